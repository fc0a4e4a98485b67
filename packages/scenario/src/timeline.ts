/** Timeline of a run: steps, events and changes of state, in the order in which they were seen. */
import type { EventFacts, Facts, VolumeFacts } from './facts.js';

/** Lines kept: what led to a failure is near it. */
const LINES_MAX = 80;

export class Timeline {
  private readonly lines: string[] = [];
  private readonly states = new Map<string, string>();

  note(atSeconds: number, text: string): void {
    this.lines.push(`${atSeconds.toFixed(1).padStart(8)} s  ${text}`);
    if (this.lines.length > LINES_MAX) this.lines.shift();
  }

  observe(atSeconds: number, facts: Facts, events: readonly EventFacts[]): void {
    for (const { type, message } of events) this.note(atSeconds, `event ${type}: ${message}`);
    for (const volume of facts.volumes) this.change(atSeconds, `volume ${volume.name}`, volumeText(volume));
    for (const { name, conditions } of facts.nodes) {
      const ready = conditions.find(({ type }) => type === 'Ready')?.status ?? 'Unknown';
      this.change(atSeconds, `node ${name}`, `Ready=${ready}`);
    }
  }

  private change(atSeconds: number, what: string, state: string): void {
    if (this.states.get(what) === state) return;
    this.states.set(what, state);
    this.note(atSeconds, `${what} is ${state}`);
  }

  text(): string {
    return this.lines.join('\n');
  }
}

function volumeText({ state, robustness, attachedTo, replicas }: VolumeFacts): string {
  const at = attachedTo === null ? '' : ` to ${attachedTo}`;
  const copies = replicas.map(
    (replica) =>
      `${replica.node ?? 'nowhere'} ${replica.mode ?? replica.state}${replica.isHealthy ? '' : '!'}`,
  );
  return `${state}${at}, ${robustness}, copies: ${copies.sort().join(', ')}`;
}
