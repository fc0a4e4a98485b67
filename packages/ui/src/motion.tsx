import { LoaderCircle, type LucideProps } from 'lucide-react';

/**
 * A ref that moves its element for as long as it is shown, unless the user wants less motion.
 *
 * By the Web Animations API and not by CSS: React listens to the events of CSS animations, so that each turn of each of them wakes the
 * main thread. A list whose volumes are being made or rebuilt has a hundred of them, and they cost more than what they tell of.
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

/** Ref of an element that stands for something that is going on. */
export const pulsing = moving([{ opacity: 1 }, { opacity: 0.5 }, { opacity: 1 }], 2_000);

const turning = moving([{ transform: 'rotate(0)' }, { transform: 'rotate(1turn)' }], 1_000);

/** The glyph of what is going on. */
export function Spinner(props: LucideProps) {
  return <LoaderCircle aria-hidden ref={turning} {...props} />;
}
