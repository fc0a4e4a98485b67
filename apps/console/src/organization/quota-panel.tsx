'use client';
import { Button } from '@holdfast/ui/button.js';
import { TextField } from '@holdfast/ui/field.js';
import { Meter } from '@holdfast/ui/meter.js';
import { Panel } from '@holdfast/ui/panel.js';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { organizationApi, type Quota, type QuotaOwner } from '../api/organization';
import { useForbidden } from '../api/use-access';
import { Loaded } from '../shared/loaded';
import { FormDialog } from './form-dialog';
import { fieldOf, LIMIT_NAMES, type LimitName, limitsOf, limitWords, QUOTA_LIMITS } from './quota-words';

/** Share of a limit from which on its meter warns. */
const FULL_PERCENT = 85;

type Props = { title: string; owner: QuotaOwner };

/** Limits, and their usage. */
export function QuotaPanel({ title, owner }: Props) {
  const quota = useQuery({
    queryKey: ['organization', 'quota', owner.kind, owner.id],
    queryFn: () => organizationApi.quota(owner),
  });
  const forbidden = useForbidden()(owner.kind === 'organization' ? 'organization:write' : 'quota:write');
  const [isAsked, setAsked] = useState(false);
  return (
    <Panel
      title={title}
      flush
      aside={
        <Button
          aria-label={`Change limits: ${title}`}
          disabledReason={forbidden}
          onClick={() => setAsked(true)}
        >
          Change limits…
        </Button>
      }
    >
      <Loaded query={quota} what="the quota" rows={4}>
        {(data) => (
          <>
            <ul>
              {LIMIT_NAMES.map((name) => (
                <LimitRow key={name} name={name} quota={data} />
              ))}
            </ul>
            {isAsked && (
              <LimitsDialog title={title} owner={owner} quota={data} onClose={() => setAsked(false)} />
            )}
          </>
        )}
      </Loaded>
    </Panel>
  );
}

function LimitRow({ name, quota: { limits, used } }: { name: LimitName; quota: Quota }) {
  const limit = limits[name];
  const now = name === 'requestsPerMinute' ? undefined : used[name];
  const percent = limit === null || now === undefined ? undefined : limit === 0 ? 100 : (100 * now) / limit;
  return (
    <li className="grid grid-cols-2 items-center gap-x-4 border-b border-border px-4 py-2 text-sm last:border-0 sm:grid-cols-[12rem_1fr_14rem]">
      <span>{QUOTA_LIMITS[name].title}</span>
      <span className="max-sm:col-span-2 max-sm:row-start-2">
        {percent !== undefined && (
          <Meter
            label={QUOTA_LIMITS[name].title}
            percent={percent}
            tone={percent > FULL_PERCENT ? 'warn' : 'busy'}
          />
        )}
      </span>
      <span className="text-right tabular-nums">
        {now !== undefined && `${limitWords(name, now)}${limit === null ? ', ' : ' '}`}
        <span className="text-muted">{limit === null ? 'no limit' : `of ${limitWords(name, limit)}`}</span>
      </span>
    </li>
  );
}

function LimitsDialog({ title, owner, quota, onClose }: Props & { quota: Quota; onClose: () => void }) {
  return (
    <FormDialog
      title={title}
      description="Empty: no limit. Usage beyond a lowered limit stays; nothing more is admitted."
      submitLabel="Set limits"
      done="The limits are set."
      run={(form) => organizationApi.setQuota(owner, limitsOf(form))}
      onClose={onClose}
    >
      {(errorAt) => (
        <div className="grid grid-cols-2 gap-3">
          {LIMIT_NAMES.map((name) => (
            <TextField
              key={name}
              label={`${QUOTA_LIMITS[name].title}${QUOTA_LIMITS[name].unit === 'GiB' ? ', in GiB' : ''}`}
              name={name}
              type="number"
              min={0}
              step={QUOTA_LIMITS[name].unit === 'GiB' ? 'any' : 1}
              defaultValue={fieldOf(name, quota.limits[name])}
              error={errorAt(`/${name}`)}
            />
          ))}
        </div>
      )}
    </FormDialog>
  );
}
