/**
 * Text for a terminal, without what would drive it: names and messages come from tenants and agents, and a terminal obeys escape
 * sequences whoever wrote them. Colours, which this program adds itself, stay.
 */

/** A control character, with the rest of a colour where it begins one, or a mark that turns the direction of text. */
const DRIVES = /\p{Cc}(?:\[[0-9;]*m)?|\p{Bidi_Control}/gu;
const ESCAPE = '\u001b';

/** Each such character as `\u001b`, which is what JSON calls it. Tabs and line ends stay. */
export function printable(text: string): string {
  return text.replace(DRIVES, (found) => {
    const isColour = found.startsWith(`${ESCAPE}[`);
    return isColour || found.startsWith('\n') || found.startsWith('\t') ? found : escaped(found);
  });
}

/** A cell of a table: one that had two lines would look like two rows, and its colours like those of the program. */
export function cellText(text: string): string {
  return text.replace(/\p{Cc}/gu, escaped);
}

/** The first character escaped, and what follows it as it is. */
function escaped(found: string): string {
  return `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}${found.slice(1)}`;
}
