'use client';
import { clsx } from 'clsx';
import { useTheme } from 'next-themes';
import { useEffect, useId, useRef, useState } from 'react';
import type uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { axisSpan, axisTimes, axisWords } from './axis-times';
import type { Chart } from './history';

const HEIGHT_PX = 200;
const AXIS_FONT_PX = 12;
/** Between two times below the lines, which take up to this much. */
const AXIS_SPACE_PX = 90;
/** Sizes are in binary units, so that the grid lines are at whole ones. */
const BINARY_STEPS = Array.from({ length: 62 }, (_, power) => 2 ** power);

/**
 * Lines over time. Each has a button in the legend that hides it. The slider under the lines goes from sample to sample, by keys
 * too, and says the values there; a pointer over the lines does the same.
 */
export function TimeChart({ label, chart }: { label: string; chart: Chart }) {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [index, setIndex] = useState<number>();
  const last = chart.times.length - 1;
  const at = Math.min(index ?? last, last);
  const canvas = useLines(chart, hidden, at, setIndex);
  const hint = useId();

  function toggle(name: string) {
    setHidden((before) => {
      const after = new Set(before);
      if (!after.delete(name)) after.add(name);
      return after;
    });
  }

  const when = momentOf(chart.times[at]);
  return (
    <figure className="flex flex-col gap-2" aria-label={label}>
      <figcaption className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs">
        {chart.series.map(({ name, token, values }) => (
          <button
            key={name}
            type="button"
            aria-pressed={!hidden.has(name)}
            onClick={() => toggle(name)}
            className={clsx(
              'inline-flex min-h-6 items-center gap-1.5 rounded hover:bg-hover',
              hidden.has(name) && 'line-through',
            )}
          >
            <span aria-hidden className="h-0.5 w-4 rounded" style={{ background: `var(${token})` }} />
            <span className="text-muted">{name}</span>
            <span className="tabular-nums">{valueWords(chart, values[at])}</span>
          </button>
        ))}
        <span className="ml-auto tabular-nums text-muted">{when}</span>
      </figcaption>
      <div ref={canvas} aria-hidden className="min-h-[200px] w-full overflow-hidden" />
      <input
        type="range"
        aria-label={`Time in: ${label}`}
        aria-describedby={hint}
        aria-valuetext={[
          when,
          ...chart.series.map(({ name, values }) => `${name} ${valueWords(chart, values[at])}`),
        ].join(', ')}
        min={0}
        max={Math.max(0, last)}
        value={at}
        onChange={(event) => setIndex(Number(event.target.value))}
        className="h-6 w-full accent-(--idle)"
      />
      <p id={hint} className="sr-only">
        Arrow keys go from one sample to the next.
      </p>
    </figure>
  );
}

function valueWords({ format }: Chart, value: number | null | undefined): string {
  return value === null || value === undefined ? 'no sample' : format(value);
}

function momentOf(seconds: number | undefined): string {
  if (seconds === undefined) return '';
  return new Date(seconds * 1_000).toLocaleString(undefined, {
    dateStyle: 'medium',
    timeStyle: 'short',
    hourCycle: 'h23',
  });
}

/** Draws the lines anew when they, the theme or the width change. The library is loaded with the first chart. */
function useLines(
  chart: Chart,
  hidden: ReadonlySet<string>,
  at: number,
  onMove: (index: number) => void,
): React.RefObject<HTMLDivElement | null> {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const move = useRef(onMove);
  move.current = onMove;
  const { resolvedTheme } = useTheme();

  // biome-ignore lint/correctness/useExhaustiveDependencies: colours are read from the theme that is shown.
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    let isGone = false;
    const resized = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: HEIGHT_PX }),
    );
    void import('uplot').then(({ default: Plot }) => {
      if (isGone) return;
      plot.current = new Plot(
        optionsOf(chart, hidden, element, (index) => move.current(index)),
        [[...chart.times], ...chart.series.map(({ values }) => [...values])],
        element,
      );
      resized.observe(element);
    });
    return () => {
      isGone = true;
      resized.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [chart, hidden, resolvedTheme]);

  useEffect(() => {
    const shown = plot.current;
    const seconds = chart.times[at];
    if (shown === undefined || seconds === undefined) return;
    shown.setCursor({ left: shown.valToPos(seconds, 'x'), top: 0 }, false);
  }, [chart, at]);
  return place;
}

function optionsOf(
  { times, series, format }: Chart,
  hidden: ReadonlySet<string>,
  element: HTMLElement,
  onMove: (index: number) => void,
): uPlot.Options {
  const style = getComputedStyle(element);
  const token = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    // A canvas does not take the font of the page around it.
    font: `${AXIS_FONT_PX}px ${style.fontFamily}`,
    stroke: token('--text-muted'),
    grid: { stroke: token('--border') },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, y: false },
    scales: {
      // Not from what the library passes: behind one sample it makes up three years.
      x: { range: () => axisSpan(times) },
      y: { range: (_plot, _low, high) => [0, Math.max(1, high * 1.1)] },
    },
    axes: [
      { ...axis, space: AXIS_SPACE_PX, values: (_plot, splits) => axisTimes(splits) },
      {
        ...axis,
        size: 78,
        incrs: BINARY_STEPS,
        values: (_plot, splits) => axisWords(splits, format),
      },
    ],
    series: [
      {},
      ...series.map((line) => ({
        label: line.name,
        show: !hidden.has(line.name),
        stroke: token(line.token),
        width: 2,
        points: { show: line.values.length < 3 },
      })),
    ],
    hooks: {
      setCursor: [
        ({ cursor }) => {
          if (typeof cursor.idx === 'number') onMove(cursor.idx);
        },
      ],
    },
  };
}
