'use client';
import { Badge } from '@holdfast/ui/badge.js';
import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import { useDisks, useReplicaCounts, useRisk, useSomeVolumes } from '../api/queries';
import type { Disk, StorageNode } from '../api/types';
import { nodeLook } from '../states';
import { type Copy, CopyBlocks } from './copy-blocks';
import { type Domain, domainText, type RegionOf, regionsOf, type ZoneOf } from './domains';

/** A page of volumes: beyond it copies are counted instead of drawn. */
const DRAWN_VOLUMES_MAX = 100;
/** More nodes than that are folded into their zones. */
const OPEN_NODES_MAX = 24;

type Pick = { chosen: Domain | undefined; onChoose: (domain: Domain) => void };
type Props = Pick & { nodes: readonly StorageNode[] };
type Drawn = { copies: readonly Copy[] | undefined; disks: readonly Disk[]; isFolded: boolean };

/** The cluster's failure domains within each other: regions, zones, nodes, disks and copies. Each domain is a button. */
export function TopologyPicture({ nodes, chosen, onChoose }: Props) {
  const total = useRisk().data?.volumes.total;
  const isDrawn = total !== undefined && total <= DRAWN_VOLUMES_MAX;
  const volumes = useSomeVolumes('', { enabled: isDrawn });
  const disks = useDisks();
  const drawn: Drawn = {
    copies: isDrawn
      ? volumes.data?.flatMap((volume) => volume.replicas.map((replica) => ({ volume, replica })))
      : undefined,
    disks: disks.data ?? [],
    isFolded: nodes.length > OPEN_NODES_MAX,
  };
  const regions = regionsOf(nodes);
  return (
    <div className="flex flex-col gap-3">
      {regions.map((region) => (
        <Region key={region.name ?? ''} region={region} drawn={drawn} pick={{ chosen, onChoose }} />
      ))}
    </div>
  );
}

type Inner = { drawn: Drawn; pick: Pick };

function Region({ region, drawn, pick }: Inner & { region: RegionOf<StorageNode> }) {
  const zones = region.zones.map((zone) => (
    <Zone key={zone.name ?? ''} zone={zone} drawn={drawn} pick={pick} />
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

function Zone({ zone, drawn, pick }: Inner & { zone: ZoneOf<StorageNode> }) {
  const nodes = (
    <div className="flex flex-col gap-2">
      {zone.nodes.map((node) => (
        <Node key={node.id} node={node} drawn={drawn} pick={pick} />
      ))}
    </div>
  );
  const inner = drawn.isFolded ? (
    <details>
      <summary className="min-h-6 cursor-pointer text-xs text-muted">{zone.nodes.length} nodes</summary>
      {nodes}
    </details>
  ) : (
    nodes
  );
  const className = 'min-w-56 flex-1 bg-sunken p-2';
  if (zone.name === null) {
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
      domain={{ kind: 'zone', name: zone.name }}
      pick={pick}
      label={`Zone ${zone.name}`}
      className={className}
    >
      {inner}
    </Box>
  );
}

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
              <Count diskId={disk.id} />
            ) : (
              <CopyBlocks copies={drawn.copies.filter(({ replica }) => replica.diskId === disk.id)} />
            )}
          </li>
        ))}
      </ul>
    </Box>
  );
}

function Count({ diskId }: { diskId: string }) {
  const count = useReplicaCounts().data?.disks.find((disk) => disk.diskId === diskId)?.total ?? 0;
  return (
    <span className="text-xs text-muted tabular-nums">
      {count === 1 ? '1 copy' : `${count.toLocaleString('en')} copies`}
    </span>
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
        'min-h-6 rounded px-1 text-xs font-medium hover:bg-hover hover:underline',
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
