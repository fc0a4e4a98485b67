/** Output as YAML. Its library takes longer to load than all else that a command needs, so it is loaded for that output only. */
import type { stringify } from './yaml-library.js';

let writer: typeof stringify | undefined;

/** Before `yamlText`. */
export async function loadYaml(): Promise<void> {
  writer = (await import('./yaml-library.js')).stringify;
}

export function yamlText(value: object): string {
  if (writer === undefined) throw new Error('the library for YAML was not loaded');
  return writer(value).trimEnd();
}
