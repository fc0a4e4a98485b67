'use client';
import { SelectField, TextField } from '@holdfast/ui/field.js';
import type { Token, TokenWish } from '../api/credentials';
import { organizationApi } from '../api/organization';
import { FormDialog } from './form-dialog';
import { useOrganizationList } from './list-panel';
import { RoleField, roleIn, textIn } from './role-field';
import type { Secret } from './secret-dialog';

const DAY_MS = 86_400_000;

type Props = {
  title: string;
  description: string;
  create: (wish: TokenWish) => Promise<Pick<Token, 'name'> & { token: string }>;
  onSecret: (secret: Secret) => void;
  onClose: () => void;
};

/** The form for a token: permissions, networks and lifetime. */
export function TokenDialog({ title, description, create, onSecret, onClose }: Props) {
  const projects = useOrganizationList('projects', organizationApi.projects);
  return (
    <FormDialog
      title={title}
      description={description}
      submitLabel="Create token"
      done="shown"
      run={(form) => create(wishOf(form))}
      onClose={onClose}
      onResult={({ name, token }) => onSecret(tokenSecret(name, token))}
    >
      {(errorAt) => (
        <>
          <TextField label="Name" name="name" required placeholder="backup job" error={errorAt('/name')} />
          <RoleField error={errorAt('/role')} />
          <label className="flex min-h-6 items-center gap-2 text-sm">
            <input type="checkbox" name="readOnly" value="on" />
            For reading only, whatever its role allows
          </label>
          <div className="grid grid-cols-2 gap-3">
            <SelectField label="Its volumes go to" name="projectId" error={errorAt('/projectId')}>
              <option value="">A project that is named each time</option>
              {(projects.data ?? []).map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </SelectField>
            <TextField
              label="Days until it ends"
              name="days"
              type="number"
              min={1}
              hint="Empty: the maximum of this server"
              error={errorAt('/expiresAt')}
            />
          </div>
          <TextField
            label="Only from these addresses"
            name="addressRanges"
            placeholder="10.0.0.0/8, 192.168.1.7"
            hint="Separated by commas. Empty: from anywhere."
            error={errorAt('/addressRanges') ?? errorAt('/addressRanges/0')}
          />
        </>
      )}
    </FormDialog>
  );
}

export function tokenSecret(name: string, text: string): Secret {
  return { title: `Token ${name}`, use: 'Programs send it as Authorization: Bearer.', text };
}

function wishOf(form: FormData): TokenWish {
  const ranges = textIn(form, 'addressRanges')
    .split(',')
    .map((range) => range.trim())
    .filter((range) => range !== '');
  const days = Number(textIn(form, 'days'));
  const projectId = textIn(form, 'projectId');
  return {
    name: textIn(form, 'name'),
    role: roleIn(form),
    readOnly: form.has('readOnly'),
    ...(projectId === '' ? {} : { projectId }),
    ...(ranges.length === 0 ? {} : { addressRanges: ranges }),
    ...(days > 0 ? { expiresAt: new Date(Date.now() + days * DAY_MS).toISOString() } : {}),
  };
}
