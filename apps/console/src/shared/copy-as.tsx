'use client';
import { Popover } from '@holdfast/ui/popover.js';
import { Copy } from 'lucide-react';
import { noteDone, noteRefusal } from './notes';

/** The same object in another form: for a terminal, for a program, or in full. */
export type CopyForm = {
  readonly label: 'CLI' | 'curl' | 'JSON';
  readonly text: string;
  /** Content of a copy that is read only then; `text` describes it. */
  readonly load?: () => Promise<string>;
};

/**
 * A menu of forms to copy.
 *
 * @param of name of their object, if a page has several such menus
 */
export function CopyAs({ forms, of }: { forms: readonly CopyForm[]; of?: string | undefined }) {
  async function copy({ label, text, load }: CopyForm) {
    try {
      await navigator.clipboard.writeText(load === undefined ? text : await load());
      noteDone(`Copied as ${label}.`);
    } catch (problem) {
      noteRefusal(problem);
    }
  }
  return (
    <Popover isFramed={of === undefined} label="Copy as" of={of} icon={<Copy aria-hidden size={15} />}>
      <ul className="flex flex-col gap-1">
        {forms.map((form) => (
          <li key={form.label}>
            <button
              type="button"
              onClick={() => void copy(form)}
              className="flex min-h-8 w-full flex-col rounded px-2 py-1 text-left hover:bg-hover"
            >
              <span className="font-medium">{form.label}</span>
              <code className="block max-w-52 truncate font-mono text-xs text-muted">{form.text}</code>
            </button>
          </li>
        ))}
      </ul>
    </Popover>
  );
}
