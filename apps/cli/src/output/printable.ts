/**
 * Text for a terminal without escape sequences: names and messages come from tenants and agents, and a terminal obeys sequences of
 * any origin. Colours, which this program adds itself, stay.
 */

/** A control character, with the rest of a colour if it begins one, or a mark that changes the direction of text. */
const DRIVES = /\p{Cc}(?:\[[0-9;]*m)?|\p{Bidi_Control}/gu;
const ESCAPE = '\u001b';

/** Each such character as `\u001b`, which is what JSON calls it. Tabs and line ends stay. */
export function printable(text: string): string {
  return text.replace(DRIVES, (found) => {
    const isColour = found.startsWith(`${ESCAPE}[`);
    return isColour || found.startsWith('\n') || found.startsWith('\t') ? found : escaped(found);
  });
}

/** A cell of a table: one with two lines would look like two rows, and its colours like those of the program. */
export function cellText(text: string): string {
  return text.replace(/\p{Cc}/gu, escaped);
}

/** The first character escaped, and what follows it as it is. */
function escaped(found: string): string {
  return `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}${found.slice(1)}`;
}
