/**
 * Durability: how likely a volume loses its data, by closed forms. Failures of disks are taken as independent, with a constant rate; what
 * fails together (a zone, a firmware, an operator) is counted apart, by `lossWithNodes`. Sources: docs/design/scheduling.md#durability.
 */

export const HOURS_PER_YEAR = 8766;

/** Failures of one disk per hour, from the share of disks that fail in a year (0.0157 for 1.57 %). */
export function failuresPerHour(annualFailureRate: number): number {
  return -Math.log(1 - annualFailureRate) / HOURS_PER_YEAR;
}

/**
 * Mean hours until the last copy is lost, with all lost copies being made again at once.
 *
 * @param copies good copies that the volume is to have, at least 1
 * @param failed copies of these that are missing now
 * @param repairHours from the loss of a copy until it is full again
 */
export function meanHoursToLoss(
  copies: number,
  failed: number,
  { failuresPerHour: rate, repairHours }: { failuresPerHour: number; repairHours: number },
): number {
  let sum = 0;
  // Mean time from k failed copies to k + 1: a chain of births and deaths.
  for (let k = 0, step = 0; k < copies; k += 1) {
    const next = (copies - k) * rate;
    step = 1 / next + (k === 0 ? 0 : ((k / repairHours) * step) / next);
    if (k >= failed) sum += step;
  }
  return sum;
}

/** Chance of at least one loss within a year. */
export function lossPerYear(meanHours: number): number {
  return -Math.expm1(-HOURS_PER_YEAR / meanHours);
}

/**
 * Chance that some volume is lost when as many nodes fail at once as it has copies: exact, since each set of failed nodes is one possible
 * set of a volume's nodes.
 *
 * @param sets distinct sets of nodes that hold all copies of some volume, each of `copies` nodes
 */
export function lossWithNodes(sets: number, nodes: number, copies: number): number {
  return copies > nodes || copies < 1 ? 0 : Math.min(1, sets / combinations(nodes, copies));
}

function combinations(all: number, chosen: number): number {
  let count = 1;
  for (let index = 1; index <= chosen; index += 1) count = (count * (all - chosen + index)) / index;
  return count;
}
