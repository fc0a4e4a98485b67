'use client';
import { CopyText } from '@holdfast/ui/copy-text.js';
import { Panel } from '@holdfast/ui/panel.js';
import { useSilentNodes } from '../api/silent-nodes';
import type { Volume } from '../api/types';
import { isNotServed } from '../states';
import { nbdCommands } from './nbd-commands';

/** How to reach the volume from outside: its NBD address, and commands that use it. */
export function ConnectPanel({ volume }: { volume: Volume }) {
  const nbdUri = volume.endpoint?.nbdUri ?? null;
  const silent = useSilentNodes();
  if (isNotServed(volume, silent)) {
    return (
      <Panel title="Connect">
        <p className="text-sm text-muted">
          The node that serves the volume does not answer, so its address leads nowhere now. Once the volume
          is attached on another node, its new address stands here.
        </p>
      </Panel>
    );
  }
  if (nbdUri === null) {
    return (
      <Panel title="Connect">
        <p className="text-sm text-muted">
          {volume.endpoint === null
            ? 'Attach the volume to get its NBD address. Any NBD client can use it.'
            : 'Its address is shown to those who may change volumes.'}
        </p>
      </Panel>
    );
  }
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
