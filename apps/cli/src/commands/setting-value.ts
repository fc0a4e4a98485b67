/**
 * A setting's value from its text: numbers and booleans as such, all else as text. The API refuses what does not fit.
 */
export function literal(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}
