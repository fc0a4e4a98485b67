import { isNotServed } from '@holdfast/core/policy/silent-nodes.js';
import { type Context, print, remark } from '../context.js';
import { holderNow } from '../nodes-now.js';
import { formatItem } from '../output/format.js';
import type { Volume } from '../types.js';
import { silentHolderText } from './volume-text.js';

/**
 * Prints the address of a volume that a command has had attached. It is printed although its node does not answer, since a script
 * reads it and the node may answer in a moment; stderr warns the user.
 */
export async function printAttached(context: Context, volume: Volume): Promise<void> {
  const nodes = await holderNow(context, volume);
  if (isNotServed(volume, nodes.silent))
    remark(`the address leads nowhere now: ${silentHolderText(volume, nodes)}`);
  const text = () => volume.endpoint?.nbdUri ?? `${volume.name}: ${volume.state}`;
  print(formatItem(volume, text, context.output));
}
