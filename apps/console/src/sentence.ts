/** A time as messages of the API have it. */
const UTC_TIME = /(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}) UTC/g;

/** A message of the API as a sentence of its own. */
export function sentence(message: string): string {
  return message.endsWith('.') ? capitalized(message) : `${capitalized(message)}.`;
}

/** A message of the API as a line of a list, where no full stop follows. */
export function capitalized(message: string): string {
  const told = inLocalTime(message, new Date());
  return `${told.charAt(0).toUpperCase()}${told.slice(1)}`;
}

/** Times on the reader's clock; of another day than today with their date. */
export function inLocalTime(message: string, now: Date): string {
  return message.replaceAll(UTC_TIME, (_, day: string, time: string) => {
    const at = new Date(`${day}T${time}Z`);
    const clock = at.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
    if (at.toDateString() === now.toDateString()) return clock;
    return `${at.toLocaleDateString([], { day: 'numeric', month: 'short' })}, ${clock}`;
  });
}
