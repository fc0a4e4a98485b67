// The same list of volumes as a bare page of the same server: the API's answers as rows of a table, by a few lines of script without a
// framework. What it costs is what the data itself costs in this browser, so that a figure of the console says what the console adds.

/** A page of the same server with nothing in it; the list is put into it. */
export const BARE_PATH = '/livez';

type BareList = {
  readonly clusterId: string;
  /** Rows that it shows, read as pages of the API. */
  readonly rows: number;
  /** Follows the stream of events, as the console does. */
  readonly isLive: boolean;
};

const PAGE = 200;

/** Run in the page; ends once the rows are drawn. A text, because it runs in the browser. */
export function bareListScript({ clusterId, rows, isLive }: BareList): string {
  return `(async () => {
    const api = '/api/v1/clusters/${clusterId}';
    document.body.innerHTML = '<input aria-label="Search"><button>Sort</button><table style="width:100%"><tbody></tbody></table>';
    const body = document.querySelector('tbody');
    const state = { filter: '', sort: '-risk,name' };
    const textOf = (v) => [v.name, v.robustness, v.numberOfReplicas, v.state, v.attachedNodeId ?? '', v.size, v.writtenBytes];
    const rowOf = (volume) => {
      const row = document.createElement('tr');
      row.dataset.id = volume.id;
      row.style.height = '36px';
      for (const text of textOf(volume)) row.append(Object.assign(document.createElement('td'), { textContent: text }));
      return row;
    };
    async function show() {
      const found = [];
      let cursor = null;
      do {
        const query = new URLSearchParams({ limit: String(Math.min(${PAGE}, ${rows})), sort: state.sort });
        if (state.filter !== '') query.set('filter', state.filter);
        if (cursor !== null) query.set('cursor', cursor);
        const page = await (await fetch(api + '/volumes?' + query)).json();
        found.push(...page.items);
        cursor = page.nextCursor;
      } while (cursor !== null && found.length < ${rows});
      body.replaceChildren(...found.map(rowOf));
    }
    await show();
    let typing;
    document.querySelector('input').oninput = ({ target }) => {
      clearTimeout(typing);
      typing = setTimeout(() => { state.filter = target.value === '' ? '' : 'name=' + target.value + '*'; void show(); }, 250);
    };
    document.querySelector('button').onclick = () => { state.sort = state.sort === 'name' ? '-name' : 'name'; void show(); };
    if (${isLive}) {
      const changed = async ({ data }) => {
        const { volumeId, subject } = JSON.parse(data);
        const id = volumeId ?? (subject?.kind === 'volume' ? subject.id : undefined);
        if (id === undefined || id === null) return;
        const answer = await fetch(api + '/volumes/' + id);
        if (!answer.ok) return;
        const row = rowOf(await answer.json());
        const old = body.querySelector('[data-id="' + id + '"]');
        if (old === null) body.prepend(row); else old.replaceWith(row);
      };
      const stream = new EventSource(api + '/events/stream');
      stream.addEventListener('event', changed);
      stream.addEventListener('change', changed);
    }
    await new Promise(requestAnimationFrame);
  })()`;
}
