/** Objects that one decision after the other fills anew, so that a decision allocates none. */
export class ReusedObjects<T> {
  private readonly objects: T[] = [];
  private taken = 0;

  constructor(private readonly make: () => T) {}

  /** Those taken since the last `clear`; they stand at 0 to `count` − 1. */
  get count(): number {
    return this.taken;
  }

  clear(): void {
    this.taken = 0;
  }

  /** With what it last held: the caller sets every field. */
  take(): T {
    let object = this.objects[this.taken];
    if (object === undefined) {
      object = this.make();
      this.objects.push(object);
    }
    this.taken += 1;
    return object;
  }

  /** @param index below `count`, so that an object stands there */
  at(index: number): T {
    return this.objects[index] as T;
  }

  toArray(): T[] {
    return this.objects.slice(0, this.taken);
  }
}
