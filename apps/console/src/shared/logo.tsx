/** A holdfast: the part of a seaweed that grips the rock. */
export function Logo({ size = 26 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" fill="none" aria-hidden="true">
      <rect width="32" height="32" rx="7" className="fill-accent" />
      <path
        d="M16 5v13M16 18c0 5-4 7-9 7M16 18c0 5 4 7 9 7M16 18v9M16 9c-3 0-5-1-6-3M16 12c3 0 5-1 6-3"
        className="stroke-on-accent"
        strokeWidth="2.4"
        strokeLinecap="round"
      />
    </svg>
  );
}
