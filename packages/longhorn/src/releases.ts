/** Ranges of releases, such as `1.5.0-1.5.4`, `<=1.4.3` and `>=1.11.0`. */

/** Whether a release is in one of the ranges. An unknown release is in all: the evidence is shown, and its reader knows. */
export function isInReleases(version: string, ranges: readonly string[]): boolean {
  const release = partsOf(version);
  if (release === undefined || ranges.length === 0) return true;
  return ranges.some((range) => isInRange(release, range));
}

type Release = readonly [number, number, number];

function partsOf(version: string): Release | undefined {
  const found = /^v?(\d+)\.(\d+)(?:\.(\d+))?/.exec(version);
  return found === null ? undefined : [Number(found[1]), Number(found[2]), Number(found[3] ?? 0)];
}

/** @throws Error for a range that is none: the tables are code */
function isInRange(release: Release, range: string): boolean {
  const [, operator, single] = /^(<=|<|>=)(.+)$/.exec(range) ?? [];
  if (operator !== undefined && single !== undefined) {
    const order = compare(release, bound(single));
    if (operator === '>=') return order >= 0;
    return operator === '<' ? order < 0 : order <= 0;
  }
  const [low, high] = range.split('-');
  if (low === undefined || high === undefined) throw new Error(`${range} is no range of releases`);
  return compare(release, bound(low)) >= 0 && compare(release, bound(high)) <= 0;
}

function bound(version: string): Release {
  const release = partsOf(version);
  if (release === undefined) throw new Error(`${version} is no release`);
  return release;
}

function compare(a: Release, b: Release): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}
