/** What a prune does with each pack: nothing, condemn it, copy what is in use and condemn it, or let a condemned one die. */

export type PackUse = {
  readonly pack: string;
  /** Bytes of its blobs, in use or not. */
  readonly storedBytes: number;
  /** Bytes of its blobs that some backup refers to. */
  readonly liveBytes: number;
};

export type PruneLimits = {
  /** How long a condemned pack stays, for readers that began before: they would only have to look again where it lies now. */
  readonly graceMs: number;
  /** A pack of which less than this share is in use is copied. */
  readonly liveShareMin: number;
  /** Packs smaller than this are joined, once there are as many as `smallPacksMax`. */
  readonly smallBytes: number;
  readonly smallPacksMax: number;
  /** Bytes in use that one prune copies at most: it is done in the end, and the rest is for the next one. */
  readonly copyBytesMax: number;
};

export type PrunePlan = {
  /** Packs that nothing uses. */
  readonly condemn: readonly string[];
  /** Packs whose blobs in use are copied first. */
  readonly copy: readonly string[];
  /** Condemned ones whose time has come. */
  readonly die: readonly string[];
};

/** @param condemned packs that are condemned already, and when they were */
export function planPrune(
  packs: readonly PackUse[],
  condemned: ReadonlyMap<string, string>,
  now: Date,
  limits: PruneLimits,
): PrunePlan {
  const kept = packs.filter(({ pack }) => !condemned.has(pack));
  const unused = kept.filter(({ liveBytes }) => liveBytes === 0);
  const used = kept.filter(({ liveBytes }) => liveBytes > 0);
  const sparse = used.filter(({ storedBytes, liveBytes }) => liveBytes < storedBytes * limits.liveShareMin);
  const small = used.filter((one) => one.storedBytes < limits.smallBytes && !sparse.includes(one));
  const joined = small.length >= limits.smallPacksMax ? small : [];
  const live = new Map(packs.map(({ pack, liveBytes }) => [pack, liveBytes]));
  return {
    condemn: unused.map(({ pack }) => pack),
    copy: within([...sparse, ...joined], limits.copyBytesMax).map(({ pack }) => pack),
    die: [...condemned]
      // In use and condemned is a pack whose blobs were copied elsewhere, or that a later backup has to rescue: it is checked again.
      .filter(
        ([pack, since]) => (live.get(pack) ?? 0) === 0 && now.getTime() - Date.parse(since) >= limits.graceMs,
      )
      .map(([pack]) => pack),
  };
}

/** The emptiest first: they free most for what is copied. */
function within(packs: readonly PackUse[], bytesMax: number): PackUse[] {
  const chosen: PackUse[] = [];
  let bytes = 0;
  for (const pack of [...packs].sort((a, b) => a.liveBytes / a.storedBytes - b.liveBytes / b.storedBytes)) {
    if (bytes + pack.liveBytes > bytesMax) continue;
    chosen.push(pack);
    bytes += pack.liveBytes;
  }
  return chosen;
}
