/** Stands for what has no name, or none that is known yet. */
export function beginningOf(id: string): string {
  return id.slice(0, 8);
}
