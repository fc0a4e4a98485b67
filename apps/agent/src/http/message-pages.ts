/**
 * Paged messages: what engines and copies send each other and one HTTP body can't hold. Most messages fit into one
 * body; the layers of a volume with many drop marks, or the marks of a large fragmented one, do not.
 *
 * Pages are dropped when their sender or reader does not come back for them; it then has to start over.
 */
import crypto from 'node:crypto';
import { MIB } from '@holdfast/core/model/bytes.js';
import { StorageFault } from '@holdfast/core/model/faults.js';

/**
 * Length of a page in UTF-16 units. At three bytes for each unit, and escaped once more in JSON, below a body's limit.
 */
export const PAGE_CHARS = 40_000;
/** Maximum UTF-16 units of a reply, whole or as one page: in bytes still below the maximum that a caller reads. */
export const REPLY_CHARS = MIB;
/** Longest valid message in UTF-16 units: 250 layers with 8,192 ranges of 32 characters each. */
const MESSAGE_CHARS_MAX = 96 * MIB;
export const PAGES_MAX = Math.ceil(MESSAGE_CHARS_MAX / PAGE_CHARS);
/** Most messages under way, in each direction. Engines send such ones a few times in a rebuild. */
const MESSAGES_MAX = 8;
/** Time that pages are kept. A peer sends the next page within a round trip; after this it has given up. */
const KEPT_MS = 60_000;

type Message = { pages: (string | undefined)[]; atMs: number };

export function pagesOf(text: string, pageChars = PAGE_CHARS): string[] {
  const pages: string[] = [];
  for (let at = 0; at < text.length; at += pageChars) pages.push(text.slice(at, at + pageChars));
  return pages;
}

export class MessagePages {
  private readonly messages = new Map<string, Message>();

  constructor(private readonly pageChars = PAGE_CHARS) {}

  /** Takes one page of a message that is being sent. A page that arrives twice is stored once. */
  take(messageId: string, page: number, count: number, text: string): void {
    this.forgetOld();
    let message = this.messages.get(messageId);
    if (message === undefined) {
      if (this.messages.size >= MESSAGES_MAX) throw tooMany();
      message = { pages: Array.from({ length: count }, () => undefined), atMs: performance.now() };
      this.messages.set(messageId, message);
    }
    if (page >= message.pages.length) throw incomplete();
    message.pages[page] = text;
    message.atMs = performance.now();
  }

  /** The message once all its pages are here. It is kept, because the call that it belongs to may be sent again. */
  whole(messageId: string): unknown {
    const { pages = [] } = this.messages.get(messageId) ?? {};
    if (pages.length === 0 || pages.includes(undefined)) throw incomplete();
    return JSON.parse(pages.join(''));
  }

  /** Keeps a reply until the caller has fetched its pages. */
  offer(text: string): { messageId: string; count: number } {
    this.forgetOld();
    const [oldest] = this.messages.keys();
    if (this.messages.size >= MESSAGES_MAX && oldest !== undefined) this.messages.delete(oldest);
    const messageId = crypto.randomUUID();
    const pages = pagesOf(text, this.pageChars);
    this.messages.set(messageId, { pages, atMs: performance.now() });
    return { messageId, count: pages.length };
  }

  page(messageId: string, page: number): string {
    const text = this.messages.get(messageId)?.pages[page];
    if (text === undefined) throw incomplete();
    return text;
  }

  private forgetOld(): void {
    const oldestMs = performance.now() - KEPT_MS;
    for (const [messageId, { atMs }] of this.messages) if (atMs < oldestMs) this.messages.delete(messageId);
  }
}

function incomplete(): StorageFault {
  return new StorageFault('request.stale', { publicMessage: 'the pages of this message are not all here' });
}

function tooMany(): StorageFault {
  return new StorageFault('engine.busy', {
    publicMessage: `${MESSAGES_MAX} long messages are under way already`,
  });
}
