/**
 * A list of a handful of things that is emptied and filled for every decision. It keeps its memory: an array whose
 * length is set to 0 lets go of it, and each decision would allocate anew.
 */
export class ShortList<T> {
  private readonly items: T[] = [];
  private count = 0;

  get isEmpty(): boolean {
    return this.count === 0;
  }

  clear(): void {
    this.count = 0;
  }

  add(item: T): void {
    this.items[this.count] = item;
    this.count += 1;
  }

  addOnce(item: T): void {
    if (!this.has(item)) this.add(item);
  }

  has(item: T): boolean {
    for (let at = 0; at < this.count; at += 1) if (this.items[at] === item) return true;
    return false;
  }

  toArray(): T[] {
    return this.items.slice(0, this.count);
  }
}
