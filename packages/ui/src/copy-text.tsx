'use client';
import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';

const CONFIRM_MS = 2_000;

/** Text that users carry elsewhere: an address, an id, a command. One click copies it and says so. */
export function CopyText({ text, label, display = text }: { text: string; label: string; display?: string }) {
  const [copied, setCopied] = useState(false);

  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), CONFIRM_MS);
    return () => clearTimeout(timer);
  }, [copied]);

  async function copy() {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  }

  return (
    <span className="flex min-w-0 items-center gap-1 rounded-md border border-border bg-sunken py-1 pl-2 pr-1">
      <code className="min-w-0 flex-1 truncate font-mono text-xs text-text" title={text}>
        {display}
      </code>
      <button
        type="button"
        onClick={copy}
        aria-label={`Copy ${label}`}
        className="inline-flex size-6 shrink-0 items-center justify-center rounded text-muted hover:bg-hover hover:text-text"
      >
        {copied ? <Check aria-hidden size={14} className="text-good" /> : <Copy aria-hidden size={14} />}
      </button>
      <span aria-live="polite" className="sr-only">
        {copied ? 'Copied' : ''}
      </span>
    </span>
  );
}
