import { LoaderCircle, type LucideProps } from 'lucide-react';

/**
 * A ref that animates its element while it is shown, unless the user wants less motion.
 *
 * By the Web Animations API and not by CSS: React listens to the events of CSS animations, so that each turn of each of them wakes
 * the main thread. A list whose volumes are being created or rebuilt has a hundred of them.
 */
function moving(keyframes: Keyframe[], durationMs: number) {
  return (element: Element | null) => {
    if (element === null || matchMedia('(prefers-reduced-motion: reduce)').matches) return undefined;
    const animation = element.animate(keyframes, {
      duration: durationMs,
      iterations: Number.POSITIVE_INFINITY,
    });
    // All of a page move as one.
    animation.startTime = 0;
    return () => animation.cancel();
  };
}

/** Ref of an element that shows work in progress. */
export const pulsing = moving([{ opacity: 1 }, { opacity: 0.5 }, { opacity: 1 }], 2_000);

const turning = moving([{ transform: 'rotate(0)' }, { transform: 'rotate(1turn)' }], 1_000);

/** The glyph of work in progress. */
export function Spinner(props: LucideProps) {
  return <LoaderCircle aria-hidden ref={turning} {...props} />;
}
