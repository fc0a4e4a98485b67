'use client';
import { Button } from '@holdfast/ui/button.js';
import { CopyText } from '@holdfast/ui/copy-text.js';
import { Dialog } from '@holdfast/ui/dialog.js';

export type Secret = { readonly title: string; readonly use: string; readonly text: string };

/** A secret that the API gives once: to be copied now. */
export function SecretDialog({ secret, onClose }: { secret: Secret | undefined; onClose: () => void }) {
  if (secret === undefined) return null;
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={secret.title}
      description={`${secret.use} It is shown this once: only its hash is kept.`}
    >
      <CopyText text={secret.text} label="secret" />
      <div className="mt-4 flex justify-end">
        <Button variant="primary" onClick={onClose}>
          I have copied it
        </Button>
      </div>
    </Dialog>
  );
}
