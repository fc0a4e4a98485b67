import { isNotServed } from '@holdfast/core/policy/silent-nodes.js';
import { Badge } from '@holdfast/ui/badge.js';
import { useSilentNodes } from '../api/silent-nodes';
import type { Volume } from '../api/types';
import { VOLUME_STATE, volumeLook } from '../states';

export function RobustnessBadge({ volume }: { volume: Volume }) {
  const { tone, word } = volumeLook(volume, useSilentNodes());
  return <Badge tone={tone}>{word}</Badge>;
}

export function StateBadge({ volume }: { volume: Volume }) {
  const { tone, word } = VOLUME_STATE[volume.state];
  const silent = useSilentNodes();
  return (
    <Badge tone={isNotServed(volume, silent) ? 'idle' : tone} quiet>
      {word}
    </Badge>
  );
}
