/** Browsers by what their user agents say, the more special first: most of them also name those that they were made of. */
const BROWSERS = [
  [/\bEdg\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\//, 'Firefox'],
  [/\b(Headless)?Chrom(e|ium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const;

const SYSTEMS = [
  [/\bAndroid\b/, 'Android'],
  [/\b(iPhone|iPad)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
] as const;

/**
 * Where a session was begun, as a user says it: `Chrome on Linux, 192.0.2.7`.
 *
 * @param madeFrom as the API has it: an address, then the user agent. Text of another form is given back as it is.
 */
export function browserWords(madeFrom: string): string {
  const [, address, agent] = /^(\S+) (\S.*)$/.exec(madeFrom) ?? [];
  if (address === undefined || agent === undefined) return madeFrom;
  const nameIn = (names: typeof BROWSERS | typeof SYSTEMS) =>
    names.find(([pattern]) => pattern.test(agent))?.[1];
  const browser = nameIn(BROWSERS);
  const system = nameIn(SYSTEMS);
  if (browser === undefined) return madeFrom;
  return `${browser}${system === undefined ? '' : ` on ${system}`}, ${address}`;
}
