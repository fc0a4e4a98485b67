/** Text of a join token: a secret, and the fingerprint of the authority whose control plane may receive it. */
export type JoinToken = {
  secret: string;
  /** SHA-256 of the authority's certificate in hexadecimal. `undefined`: the text names none. */
  fingerprint: string | undefined;
};

const FINGERPRINT = /^[0-9a-f]{64}$/;

export function joinTokenText({ secret, fingerprint }: JoinToken): string {
  return fingerprint === undefined ? secret : `${secret}.${fingerprint}`;
}

export function parseJoinToken(text: string): JoinToken {
  const end = text.lastIndexOf('.');
  const fingerprint = text.slice(end + 1);
  if (end < 0 || !FINGERPRINT.test(fingerprint)) return { secret: text, fingerprint: undefined };
  return { secret: text.slice(0, end), fingerprint };
}
