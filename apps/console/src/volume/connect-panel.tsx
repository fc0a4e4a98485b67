'use client';
import { type ShownAddress, shownAddress } from '@holdfast/core/policy/silent-nodes.js';
import { CopyText } from '@holdfast/ui/copy-text.js';
import { Panel } from '@holdfast/ui/panel.js';
import { useSilentNodes } from '../api/silent-nodes';
import type { Volume } from '../api/types';
import { nbdCommands } from './nbd-commands';

/** Why no address is offered, and what helps. */
const WITHOUT_ADDRESS = {
  silent:
    'The node that serves the volume does not answer, so its address does not work now. Once the volume is attached on another node, its new address is shown here.',
  hidden: 'Its address is shown to those who may change volumes.',
  none: 'Attach the volume to get its NBD address. Any NBD client can use it.',
} satisfies Record<Exclude<ShownAddress['kind'], 'address'>, string>;

/** How to reach the volume from outside: its NBD address, and commands that use it. */
export function ConnectPanel({ volume }: { volume: Volume }) {
  const address = shownAddress(volume, useSilentNodes());
  if (address.kind !== 'address') {
    return (
      <Panel title="Connect">
        <p className="text-sm text-muted">{WITHOUT_ADDRESS[address.kind]}</p>
      </Panel>
    );
  }
  const { nbdUri } = address;
  const { nbdcopy, qemu, needsCertificates } = nbdCommands(nbdUri);
  return (
    <Panel title="Connect" hint="The address holds the attachment's secret: who has it can read and write.">
      <div className="flex flex-col gap-3">
        <Labelled label="NBD address">
          <CopyText text={nbdUri} label="NBD address" />
        </Labelled>
        <Labelled label="Copy a disk image into it">
          <CopyText text={nbdcopy} label="nbdcopy command" />
        </Labelled>
        <Labelled label="Use it with QEMU">
          <CopyText text={qemu} label="QEMU option" />
        </Labelled>
        {needsCertificates && (
          <p className="text-xs text-muted">
            This node wants TLS: put the folder of your certificate, its key and the CA's certificate into the
            commands.
          </p>
        )}
      </div>
    </Panel>
  );
}

function Labelled({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <div>
      <p className="mb-1 text-xs font-medium text-muted">{label}</p>
      {children}
    </div>
  );
}
