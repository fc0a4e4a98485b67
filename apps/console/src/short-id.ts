/** Stands for an object without a name, or with one that is not known yet. */
export function beginningOf(id: string): string {
  return id.slice(0, 8);
}
