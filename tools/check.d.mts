export type Tool = { readonly name: string; readonly script: string; readonly args: readonly string[] };

export const TOOLS: readonly Tool[];
