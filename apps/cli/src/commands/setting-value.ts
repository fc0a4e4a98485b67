/** Numbers and booleans as such; everything else is text. The API refuses what does not fit the setting. */
export function literal(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}
