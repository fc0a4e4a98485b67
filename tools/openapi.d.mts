export function replaceByOutput(file: string, args: readonly string[]): boolean;
export function writeDocument(): void;
