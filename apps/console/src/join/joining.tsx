'use client';
import {
  apiAddress,
  GUESSED_ADDRESS,
  JOIN_PLACE,
  type JoinPlan,
  type JoinWay,
  joinCommand,
} from '@holdfast/access/join-commands.js';
import { Badge } from '@holdfast/ui/badge.js';
import { Button } from '@holdfast/ui/button.js';
import { Dialog } from '@holdfast/ui/dialog.js';
import { Moment } from '@holdfast/ui/moment.js';
import { Spinner } from '@holdfast/ui/motion.js';
import { Check, Copy } from 'lucide-react';
import Link from 'next/link';
import { useState } from 'react';
import type { api } from '../api/client';
import { useNodeNamed } from '../api/node-queries';
import { paths } from '../paths';
import { nodeLook } from '../states';

export type JoinToken = Awaited<ReturnType<typeof api.makeJoinToken>>;

type Props = { way: JoinWay; plan: JoinPlan; token: JoinToken; onClose: () => void };

/** The command that lets the node join, shown this once, and whether the node has come. */
export function Joining({ way, plan, token, onClose }: Props) {
  const { data: node } = useNodeNamed(plan.nodeName);
  const address = apiAddress(plan.apiUrl, token.apiUrl, guessedApi());
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Let ${plan.nodeName} join`}
      description="The token in this command is shown this once: only its hash is kept. It lets this one node join, once."
    >
      <div className="flex flex-col gap-3 text-sm">
        <p>{JOIN_PLACE[way]}</p>
        <Command text={joinCommand(way, { ...plan, apiUrl: address.url }, token.token)} />
        {way !== 'compose' && address.from === 'guess' && (
          <p className="rounded-md bg-warn-soft px-3 py-2 text-warn">
            <code className="font-mono break-all">{address.url}</code> {GUESSED_ADDRESS}
          </p>
        )}
        {token.expiresAt !== null && (
          <p className="text-muted">
            The token ends <Moment at={token.expiresAt} coming />. What has joined by it stays.
          </p>
        )}
        <div
          role="status"
          className="flex min-h-10 flex-wrap items-center gap-2 rounded-md bg-sunken px-3 py-2"
        >
          {node === undefined || node === null ? (
            <>
              <Spinner size={15} />
              Waiting for {plan.nodeName} to join. This window shows it as soon as it is there.
            </>
          ) : (
            <>
              <Badge tone={nodeLook(node).tone}>{nodeLook(node).word}</Badge>
              {node.name} has joined.
              <Link href={paths.node(node.id)} className="text-accent hover:underline">
                Open {node.name}
              </Link>
            </>
          )}
        </div>
        <div className="flex justify-end">
          <Button variant={node === undefined || node === null ? 'secondary' : 'primary'} onClick={onClose}>
            {node === undefined || node === null ? 'Close without waiting' : 'Done'}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

/** The port that the API has where none is configured, on the machine that this page came from. */
function guessedApi(): string {
  return `http://${window.location.hostname}:7400/api/v1`;
}

/** Several lines that are carried to a terminal as a whole. */
function Command({ text }: { text: string }) {
  const [isCopied, setCopied] = useState(false);
  async function copy() {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  }
  return (
    <div className="flex flex-col gap-2">
      <pre className="whitespace-pre-wrap break-all rounded-md border border-border bg-sunken p-2 font-mono text-xs">
        {text}
      </pre>
      <Button onClick={copy} className="self-start">
        {isCopied ? <Check aria-hidden size={14} /> : <Copy aria-hidden size={14} />}
        <span aria-live="polite">{isCopied ? 'Copied' : 'Copy the command'}</span>
      </Button>
    </div>
  );
}
