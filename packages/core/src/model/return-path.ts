/** Where in the console a user was going when a sign-in came between. */

/** Longer addresses are given up, so that the cookie of a sign-in has room for one. */
const CHARS_MAX = 1_024;
/** Stands for the console's own origin: whatever leads elsewhere has another. */
const OWN = 'http://console.invalid';
/** A sign-in that led to a sign-in, or to an answer of the API, would be no page to land on. */
const NO_PAGES = /^\/(?:sign-in|api)(?:[/?#]|$)/;

/**
 * Is it a path of the console itself? Only that may be returned to: the address of a sign-in may have been made by the author of
 * a link, who would have the user land elsewhere (`//evil.example`, which browsers read as another host).
 */
export function isReturnPath(text: string): boolean {
  if (text.length > CHARS_MAX || !text.startsWith('/')) return false;
  // Browsers take a backslash for a slash, and leave line breaks and tabs out.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: such characters are what is refused here
  if (/[\\\u0000-\u001f\u007f]/.test(text) || !URL.canParse(text, OWN)) return false;
  const { origin, pathname } = new URL(text, OWN);
  // Dots may leave two slashes at the beginning, which another browser or program may read anew.
  return origin === OWN && !pathname.startsWith('//') && !NO_PAGES.test(pathname);
}
