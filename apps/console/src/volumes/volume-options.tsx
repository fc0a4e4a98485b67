'use client';
import type { SettingDefinition } from '@holdfast/core/model/setting.js';
import {
  overrideBounds,
  VOLUME_OVERRIDES,
  type VolumeOverride,
} from '@holdfast/core/model/volume-overrides.js';
import { SelectField, TextField } from '@holdfast/ui/field.js';
import { useQuery } from '@tanstack/react-query';
import { organizationApi } from '../api/organization';
import { settingValue } from '../shared/volume-settings';

type Props = { errorAt: (pointer: string) => string | undefined };

/** Options of a new volume that most leave as they are. */
export function VolumeOptions({ errorAt }: Props) {
  return (
    <details>
      <summary className="inline-flex min-h-6 cursor-pointer items-center text-sm text-muted hover:underline">
        All options
      </summary>
      <div className="mt-2 grid gap-3 sm:grid-cols-2">
        <ProjectField error={errorAt('/projectId')} />
        <SelectField label="Engine" name="dataEngine" defaultValue="v1" error={errorAt('/dataEngine')}>
          <option value="v1">v1, copies in folders</option>
          <option value="v2">v2, copies on block disks</option>
        </SelectField>
        <TextField
          label="Only on nodes with tags"
          name="nodeSelector"
          placeholder="ssd, rack-1"
          error={errorAt('/nodeSelector')}
        />
        <TextField
          label="Only on disks with tags"
          name="diskSelector"
          placeholder="nvme"
          error={errorAt('/diskSelector')}
        />
        <TextField
          label="Only in zones"
          name="zones"
          placeholder="zone-a, zone-b"
          error={errorAt('/topologyRequirement')}
        />
        <TextField label="Labels" name="labels" placeholder="team=a, tier=gold" error={errorAt('/labels')} />
        <SelectField label="A copy beside its client" name="dataLocality" error={errorAt('/dataLocality')}>
          <option value="">Wherever there is room</option>
          <option value="best-effort">Kept there where possible</option>
          <option value="strict-local">The only copy is there</option>
        </SelectField>
        {VOLUME_OVERRIDES.map((override) => (
          <OverrideField key={override.field} override={override} error={errorAt(`/${override.field}`)} />
        ))}
      </div>
    </details>
  );
}

/** Only where there is a choice. */
function ProjectField({ error }: { error: string | undefined }) {
  const projects = useQuery({
    queryKey: ['organization', 'projects'],
    queryFn: organizationApi.projects,
  });
  if ((projects.data?.length ?? 0) < 2) return null;
  return (
    <SelectField label="Project" name="projectId" error={error}>
      {projects.data?.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </SelectField>
  );
}

function OverrideField({ override, error }: { override: VolumeOverride; error: string | undefined }) {
  const { field, definition, volume } = override;
  const bounds = overrideBounds(override);
  if (bounds !== undefined) {
    return (
      <TextField
        label={volume.title}
        name={field}
        type="number"
        min={bounds.min}
        max={bounds.max}
        placeholder="As the cluster"
        error={error}
      />
    );
  }
  return (
    <SelectField label={volume.title} name={field} error={error}>
      <option value="">As the cluster</option>
      {optionsOf(definition).map((option) => (
        <option key={option} value={option}>
          {settingValue(field, option)}
        </option>
      ))}
    </SelectField>
  );
}

function optionsOf(definition: SettingDefinition): readonly string[] {
  return definition.type === 'enum' ? definition.options : ['enabled', 'disabled'];
}
