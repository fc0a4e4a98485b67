'use client';
import { Badge } from '@holdfast/ui/badge.js';
import { SelectField } from '@holdfast/ui/field.js';
import { Panel } from '@holdfast/ui/panel.js';
import { useState } from 'react';
import { useExplanation } from '../api/queries';
import { useSilentNodes } from '../api/silent-nodes';
import type { PlacementExplanation, Volume, VolumeExplanation } from '../api/types';
import { CureList, RefusedTable, RuleTable, ScoreTable, TierTable } from '../shared/explanation-tables';
import { Loaded } from '../shared/loaded';
import { replicaLook } from '../states';
import { CureButtons } from './cure-buttons';

const NEXT = 'next';

/** Why each copy is where it is, and where one more would go: first the sentence, then its grounds. */
export function ExplanationPanel({ volume }: { volume: Volume }) {
  const explanation = useExplanation(volume.id);
  return (
    <Panel title="Why there" hint="What the scheduler decides as things are now, rule by rule" flush>
      <Loaded query={explanation} what="the explanation" rows={6}>
        {(data) => (
          <Explained data={data} volume={volume} isShort={data.replicas.length < volume.numberOfReplicas} />
        )}
      </Loaded>
    </Panel>
  );
}

/** @param isShort a copy is missing that has no replica yet */
function Explained({ data, volume, isShort }: { data: VolumeExplanation; volume: Volume; isShort: boolean }) {
  const silent = useSilentNodes();
  const [asked, setAsked] = useState<string>();
  const missing = data.replicas.find(({ nodeName }) => nodeName === null);
  // A missing copy is the usual reason to look; otherwise the place of the first copy.
  const first = missing ?? (isShort ? undefined : data.replicas[0]);
  // A copy in question may have been deleted by now.
  const chosen = data.replicas.find(({ replicaId }) => replicaId === asked);
  const replica = asked === NEXT ? undefined : (chosen ?? first);
  const shown = replica?.explanation ?? data.next;
  const copy = volume.replicas.find(({ id }) => id === replica?.replicaId);
  const look = copy === undefined ? undefined : replicaLook(copy, volume, silent);
  return (
    <div className="flex flex-col gap-4 py-4">
      <p className="px-4 text-sm font-medium">{data.sentence}</p>
      <div className="max-w-xs px-4">
        <SelectField
          label="Explain"
          value={replica?.replicaId ?? NEXT}
          onChange={(event) => setAsked(event.target.value)}
        >
          {data.replicas.map(({ replicaId, nodeName, diskName }) => (
            <option key={replicaId} value={replicaId}>
              {nodeName === null ? 'The copy without a place' : `The copy on ${nodeName}, ${diskName}`}
            </option>
          ))}
          <option value={NEXT}>Where one more copy would go</option>
        </SelectField>
      </div>
      <One
        explanation={shown}
        volume={volume}
        isWanted={replica !== undefined || isShort}
        isSaid={data.sentence.endsWith(shown.sentence)}
        trouble={look?.tone === 'bad' ? look.word : undefined}
      />
    </div>
  );
}

type OneProps = {
  explanation: PlacementExplanation;
  volume: Volume;
  /** False: the replica is hypothetical, so that it is no warning when it fits nowhere. */
  isWanted: boolean;
  /** Its sentence stands above already. */
  isSaid: boolean;
  /** Problem of the copy itself: its place may fit the rules all the same. */
  trouble: string | undefined;
};

function One({ explanation, volume, isWanted, isSaid, trouble }: OneProps) {
  const isPlaced = explanation.outcome === 'placed';
  const tone = isPlaced ? 'good' : isWanted ? 'warn' : 'idle';
  return (
    <>
      <p className="flex flex-wrap items-center gap-2 px-4 text-sm">
        {trouble !== undefined && <Badge tone="bad">{trouble}</Badge>}
        <Badge tone={trouble === undefined ? tone : 'idle'}>{placeWord(isPlaced, trouble)}</Badge>
        {!isSaid && <span>{explanation.sentence}</span>}
      </p>
      {explanation.cures.length > 0 && (
        <CureList
          cures={explanation.cures}
          search={explanation.cureSearch}
          buttonsOf={(cure) => <CureButtons cure={cure} volume={volume} />}
        />
      )}
      <Tables explanation={explanation} isOpen={!isPlaced} />
    </>
  );
}

function placeWord(isPlaced: boolean, trouble: string | undefined): string {
  if (!isPlaced) return 'Fits nowhere';
  return trouble === undefined ? 'Fits' : 'Only its place fits';
}

/** Grounds of the sentence. For a copy with a place few readers need them, and the page continues below. */
function Tables({ explanation, isOpen }: { explanation: PlacementExplanation; isOpen: boolean }) {
  const { filters, tiers, scores, alpha } = explanation;
  return (
    // The key resets the tables when the user chooses another copy.
    <details key={String(isOpen)} open={isOpen}>
      <summary className="mx-4 inline-flex min-h-6 cursor-pointer items-center text-sm text-muted hover:underline">
        Rule by rule, with the numbers
      </summary>
      <div className="flex flex-col gap-4 pt-3">
        <RuleTable filters={filters} />
        <RefusedTable filters={filters} />
        <TierTable tiers={tiers} />
        {scores.length > 0 && <ScoreTable scores={scores} alpha={alpha} />}
      </div>
    </details>
  );
}
