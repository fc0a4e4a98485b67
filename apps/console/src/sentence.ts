/** A message of the API as a sentence of its own. */
export function sentence(message: string): string {
  return message.endsWith('.') ? capitalized(message) : `${capitalized(message)}.`;
}

/** A message of the API as a line of a list, where no full stop follows. */
export function capitalized(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}`;
}
