'use client';
import { Button } from '@holdfast/ui/button.js';
import Link from 'next/link';
import { useState } from 'react';
import type { PlannedRequest } from '../api/dry-run';
import { useDisksOf, useNodesById } from '../api/node-queries';
import type { PlacementExplanation, Volume } from '../api/types';
import { useForbidden } from '../api/use-access';
import { useCluster } from '../api/use-cluster';
import { PlanDialog } from '../shared/plan-dialog';
import { actionOf, type CureFacts, cureWay } from './cure-request';

type Cure = PlacementExplanation['cures'][number];

/** A cure's way: the plan of each of its changes, or the page on which it is done by hand. */
export function CureButtons({ cure, volume }: { cure: Cure; volume: Volume }) {
  const cluster = useCluster();
  const forbidden = useForbidden(volume.projectId);
  const concerned = cure.changes.map(({ nodeId }) => nodeId ?? null);
  const nodes = useNodesById(concerned);
  const disks = useDisksOf(concerned);
  const [asked, setAsked] = useState<PlannedRequest>();
  const facts: CureFacts = {
    clusterId: cluster.id,
    volume,
    nodes: nodes.data ?? [],
    disks: disks.data ?? [],
  };
  const ways = cure.changes.map((change) => cureWay(change, facts));
  return (
    <span className="flex flex-wrap gap-2 py-1">
      {ways.map((way, index) => {
        if (way === undefined) return null;
        const part = ways.length === 1 ? '' : ` ${index + 1} of ${ways.length}`;
        if (way.kind === 'request') {
          return (
            <Button
              key={JSON.stringify(way.request)}
              aria-label={`Show the plan${part}: ${cure.sentence}`}
              disabledReason={forbidden(actionOf(way.request))}
              onClick={() => setAsked(way.request)}
            >
              Show the plan{part}…
            </Button>
          );
        }
        return (
          <Link
            key={way.href}
            href={way.href}
            className="inline-flex h-8 items-center text-sm text-accent hover:underline"
          >
            {way.label}
          </Link>
        );
      })}
      {asked !== undefined && (
        <PlanDialog
          title="Make it fit"
          description={cure.sentence}
          request={asked}
          confirmLabel="Do it"
          done="Done: the worker places the copy with its next reconciliation."
          onClose={() => setAsked(undefined)}
        />
      )}
    </span>
  );
}
