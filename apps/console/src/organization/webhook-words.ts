import type { Tone } from '@holdfast/ui/tone.js';
import type { Delivery, Webhook } from '../api/webhooks';

/** Whether events reach the receiver of a webhook. */
export function webhookLook({
  isEnabled,
  disabledReason,
  failingSince,
}: Pick<Webhook, 'isEnabled' | 'disabledReason' | 'failingSince'>): { tone: Tone; word: string } {
  if (!isEnabled)
    return disabledReason === null ? { tone: 'idle', word: 'Off' } : { tone: 'bad', word: 'Given up' };
  return failingSince === null ? { tone: 'good', word: 'On' } : { tone: 'warn', word: 'Failing' };
}

export const DELIVERY_LOOK = {
  waiting: { tone: 'busy', word: 'Waiting' },
  delivered: { tone: 'good', word: 'Delivered' },
  failed: { tone: 'bad', word: 'Failed' },
} satisfies Record<Delivery['state'], { tone: Tone; word: string }>;
