import { clsx } from 'clsx';
import { CircleAlert, Inbox, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { pulsing } from './motion.js';

type Props = {
  title: string;
  body?: ReactNode;
  action?: ReactNode;
  icon?: LucideIcon;
  tone?: 'plain' | 'problem';
};

/** Content of a panel instead of data: nothing yet, no matches, or an error and its cure. */
export function Message({
  title,
  body,
  action,
  tone = 'plain',
  icon: Icon = tone === 'problem' ? CircleAlert : Inbox,
}: Props) {
  return (
    <div
      role={tone === 'problem' ? 'alert' : undefined}
      className="flex flex-col items-center gap-2 px-6 py-10 text-center"
    >
      <Icon aria-hidden size={22} className={clsx(tone === 'problem' ? 'text-warn' : 'text-faint')} />
      <p className="text-sm font-medium text-text">{title}</p>
      {body !== undefined && <div className="max-w-md text-sm text-muted">{body}</div>}
      {action}
    </div>
  );
}

const BAR_WIDTHS = ['90%', '78%', '66%', '84%', '58%', '72%', '88%', '62%'] as const;

/** Grey bars where rows will be; sized like them, so that nothing jumps. */
export function Skeleton({ rows = 3 }: { rows?: number }) {
  return (
    <div role="status" aria-label="Loading" className="flex flex-col gap-3 p-4">
      {BAR_WIDTHS.slice(0, rows).map((width) => (
        <div key={width} ref={pulsing} className="h-4 rounded bg-sunken" style={{ width }} />
      ))}
    </div>
  );
}
