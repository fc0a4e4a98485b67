'use client';
import { Badge } from '@holdfast/ui/badge.js';
import { clsx } from 'clsx';
import { type ReactNode, useState } from 'react';
import { useDisksOf, useNodePages, useReplicaCounts, useSomeNodes } from '../api/node-queries';
import { useRisk, useSomeVolumes } from '../api/queries';
import type { Disk, ReplicaCounts, StorageNode, Zone as ZoneSums } from '../api/types';
import { CountedCopies } from '../shared/counted-copies';
import { nodesIn } from '../shared/node-search';
import { Paged } from '../shared/paged';
import { nodeLook } from '../states';
import { type Copy, CopyBlocks } from './copy-blocks';
import { type Domain, domainText, type RegionOf, regionsOf } from './domains';

/** A page of volumes: beyond it copies are counted instead of drawn. */
const DRAWN_VOLUMES_MAX = 100;
/** More nodes than that are folded into their zones, and read a page at a time where a zone is opened. */
const OPEN_NODES_MAX = 24;

type Pick = { chosen: Domain | undefined; onChoose: (domain: Domain) => void };
type Props = Pick & { zones: readonly ZoneSums[] };

/** The cluster's failure domains within each other: regions, zones, nodes, disks and copies. Each domain is a button. */
export function TopologyPicture({ zones, chosen, onChoose }: Props) {
  const total = zones.reduce((sum, { nodes }) => sum + nodes.total, 0);
  const isFolded = total > OPEN_NODES_MAX;
  const nodes = useSomeNodes({ limit: OPEN_NODES_MAX, enabled: !isFolded });
  const pick = { chosen, onChoose };
  return (
    <div className="flex flex-col gap-3">
      {regionsOf(zones).map((region) => (
        <Region
          key={region.name ?? ''}
          region={region}
          nodes={isFolded ? undefined : (nodes.data ?? [])}
          pick={pick}
        />
      ))}
    </div>
  );
}

/** `undefined`: they are read where their zone is opened. */
type OpenNodes = readonly StorageNode[] | undefined;

function Region({ region, nodes, pick }: { region: RegionOf<ZoneSums>; nodes: OpenNodes; pick: Pick }) {
  const zones = region.zones.map((zone) => (
    <Zone key={zone.zone ?? ''} zone={zone} nodes={nodes} pick={pick} />
  ));
  const grid = <div className="flex flex-wrap gap-3">{zones}</div>;
  if (region.name === null) return grid;
  const domain = { kind: 'region', name: region.name } as const;
  return (
    <Box domain={domain} pick={pick} label={`Region ${region.name}`} className="border-dashed p-3">
      {grid}
    </Box>
  );
}

function Zone({ zone, nodes, pick }: { zone: ZoneSums; nodes: OpenNodes; pick: Pick }) {
  const inner =
    nodes === undefined ? (
      <FoldedNodes zone={zone} pick={pick} />
    ) : (
      <Nodes
        nodes={nodes.filter((node) => node.zone === zone.zone && node.region === zone.region)}
        pick={pick}
      />
    );
  const className = 'min-w-56 flex-1 bg-sunken p-2';
  if (zone.zone === null) {
    return (
      <section
        aria-label="Nodes without a zone"
        className={clsx('rounded-md border border-border', className)}
      >
        <h3 className="px-1 pb-1.5 text-xs text-muted">No zone</h3>
        {inner}
      </section>
    );
  }
  return (
    <Box
      domain={{ kind: 'zone', name: zone.zone }}
      pick={pick}
      label={`Zone ${zone.zone}`}
      className={className}
    >
      {inner}
    </Box>
  );
}

function FoldedNodes({ zone, pick }: { zone: ZoneSums; pick: Pick }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="min-h-6 cursor-pointer text-xs text-muted">
        {zone.nodes.total === 1 ? '1 node' : `${zone.nodes.total.toLocaleString('en')} nodes`}
      </summary>
      {isOpen && <NodesByPages zone={zone} pick={pick} />}
    </details>
  );
}

function NodesByPages({ zone, pick }: { zone: ZoneSums; pick: Pick }) {
  const pages = useNodePages(nodesIn(zone), { sort: 'name', limit: OPEN_NODES_MAX });
  return (
    <Paged
      query={pages}
      what="the nodes"
      rows={4}
      empty={null}
      note={(shown) => `${shown} of ${zone.nodes.total}`}
    >
      {() =>
        pages.data?.pages.map(({ items }) => <Nodes key={items[0]?.id ?? ''} nodes={items} pick={pick} />)
      }
    </Paged>
  );
}

type Drawn = {
  copies: readonly Copy[] | undefined;
  disks: readonly Disk[];
  counts: ReplicaCounts | undefined;
};

/** At most as many as one filter names. */
function Nodes({ nodes, pick }: { nodes: readonly StorageNode[]; pick: Pick }) {
  const ids = nodes.map(({ id }) => id);
  const total = useRisk().data?.volumes.total;
  const isDrawn = total !== undefined && total <= DRAWN_VOLUMES_MAX;
  const volumes = useSomeVolumes('', { enabled: isDrawn });
  const disks = useDisksOf(ids);
  const counts = useReplicaCounts(ids);
  const drawn: Drawn = {
    copies: isDrawn
      ? volumes.data?.flatMap((volume) => volume.replicas.map((replica) => ({ volume, replica })))
      : undefined,
    disks: disks.data ?? [],
    counts: counts.data,
  };
  return (
    <div className="flex flex-col gap-2">
      {nodes.map((node) => (
        <Node key={node.id} node={node} drawn={drawn} pick={pick} />
      ))}
    </div>
  );
}

type Inner = { drawn: Drawn; pick: Pick };

function Node({ node, drawn, pick }: Inner & { node: StorageNode }) {
  const look = nodeLook(node);
  const disks = drawn.disks.filter((disk) => disk.nodeId === node.id);
  return (
    <Box
      domain={{ kind: 'node', name: node.name }}
      pick={pick}
      label={`Node ${node.name}`}
      aside={
        <Badge tone={look.tone} quiet>
          {look.word}
        </Badge>
      }
      className="bg-raised p-2"
    >
      <ul className="flex flex-col gap-1">
        {disks.map((disk) => (
          <li key={disk.id} className="flex min-h-6 items-center gap-2">
            <DomainButton
              domain={{ kind: 'disk', name: `${node.name}/${disk.name}` }}
              pick={pick}
              label={`Disk ${disk.name} of ${node.name}`}
              text={disk.name}
            />
            {drawn.copies === undefined ? (
              <CountedCopies
                count={drawn.counts?.disks.find(({ diskId }) => diskId === disk.id)}
                isSilent={look.tone === 'bad'}
              />
            ) : (
              <CopyBlocks copies={drawn.copies.filter(({ replica }) => replica.diskId === disk.id)} />
            )}
          </li>
        ))}
      </ul>
    </Box>
  );
}

type BoxProps = {
  domain: Domain;
  pick: Pick;
  label: string;
  className: string;
  aside?: ReactNode;
  children: ReactNode;
};

function Box({ domain, pick, label, className, aside, children }: BoxProps) {
  return (
    <section
      aria-label={label}
      className={clsx(
        'rounded-md border',
        isChosen(domain, pick) ? 'border-bad stripes' : 'border-border',
        className,
      )}
    >
      <div className="flex items-center justify-between gap-2 pb-1.5">
        <DomainButton domain={domain} pick={pick} label={label} text={domain.name} />
        {aside}
      </div>
      {children}
    </section>
  );
}

type ButtonProps = { domain: Domain; pick: Pick; label: string; text: string };

function DomainButton({ domain, pick, label, text }: ButtonProps) {
  const chosen = isChosen(domain, pick);
  return (
    <button
      type="button"
      aria-pressed={chosen}
      aria-label={`Lose ${label.charAt(0).toLowerCase()}${label.slice(1)}`}
      onClick={() => pick.onChoose(domain)}
      className={clsx(
        'min-h-6 rounded px-1 text-xs font-medium tabular-nums hover:bg-hover hover:underline',
        chosen ? 'bg-bad-soft text-bad line-through' : 'text-text',
      )}
    >
      {text}
    </button>
  );
}

function isChosen(domain: Domain, { chosen }: Pick): boolean {
  return chosen !== undefined && domainText(chosen) === domainText(domain);
}
