import { Badge } from '@holdfast/ui/badge.js';
import type { Volume } from '../api/types';
import { ROBUSTNESS, VOLUME_STATE } from '../states';

export function RobustnessBadge({ volume }: { volume: Volume }) {
  const { tone, word } = ROBUSTNESS[volume.robustness];
  return <Badge tone={tone}>{word}</Badge>;
}

export function StateBadge({ volume }: { volume: Volume }) {
  const { tone, word } = VOLUME_STATE[volume.state];
  return (
    <Badge tone={tone} quiet>
      {word}
    </Badge>
  );
}
