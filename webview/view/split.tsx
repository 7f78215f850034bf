import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Host } from '../host';

/** Lower than this, every row of pixels counts: header and minimap shrink, and the detail goes to the side of the lanes. */
const LOW = 420;
/** Narrower than this there is no room for two beside each other. */
const WIDE = 560;
const LEAST = 0.15;
const MOST = 0.8;

export interface Shape {
  low: boolean;
  /** The detail is at the right of the lanes instead of below. */
  side: boolean;
}

/** How the page is laid out; changes with the size of its window. */
export function useShape(): Shape {
  const [shape, setShape] = useState(shapeNow);
  useEffect(() => {
    const measure = (): void => {
      const now = shapeNow();
      setShape((before) => (before.low === now.low && before.side === now.side ? before : now));
    };
    window.addEventListener('resize', measure);
    measure();
    return () => window.removeEventListener('resize', measure);
  }, []);
  return shape;
}

function shapeNow(): Shape {
  const low = window.innerHeight < LOW;
  return { low, side: low && window.innerWidth >= WIDE };
}

interface Props {
  host: Host;
  side: boolean;
  /** Absent: the lanes have all the room. */
  detail?: ComponentChildren;
  children: ComponentChildren;
}

/** The lanes and the detail, with a line between them that can be moved. Each layout remembers where. */
export function Split({ host, side, detail, children }: Props): JSX.Element {
  const [shares, setShares] = useState(() => remembered(host));
  const box = useRef<HTMLDivElement>(null);
  const share = side ? shares.width : shares.height;
  const change = (to: number): void => {
    const kept = Math.min(MOST, Math.max(LEAST, to));
    const all = side ? { ...shares, width: kept } : { ...shares, height: kept };
    setShares(all);
    host.remember({ detail: all });
  };
  const drag = (event: PointerEvent): void => {
    const area = box.current?.getBoundingClientRect();
    if (!area) return;
    change(side ? (area.right - event.clientX) / area.width : (area.bottom - event.clientY) / area.height);
  };
  return (
    <div class={`split${side ? ' side' : ''}`} ref={box}>
      {children}
      {detail && <Sash side={side} share={share} drag={drag} change={change} />}
      {detail && (
        <div class="detail-slot" style={{ flexBasis: `${share * 100}%` }}>
          {detail}
        </div>
      )}
    </div>
  );
}

interface SashProps {
  side: boolean;
  share: number;
  drag: (event: PointerEvent) => void;
  change: (share: number) => void;
}

function Sash({ side, share, drag, change }: SashProps): JSX.Element {
  const [more, less] = side ? ['ArrowLeft', 'ArrowRight'] : ['ArrowUp', 'ArrowDown'];
  return (
    <div
      class="sash"
      role="separator"
      aria-orientation={side ? 'vertical' : 'horizontal'}
      aria-label={side ? "Width of the call's details" : "Height of the call's details"}
      aria-valuemin={LEAST * 100}
      aria-valuemax={MOST * 100}
      aria-valuenow={Math.round(share * 100)}
      tabIndex={0}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) drag(event);
      }}
      onKeyDown={(event) => {
        if (event.altKey || (event.key !== more && event.key !== less)) return;
        event.preventDefault();
        event.stopPropagation();
        change(share + (event.key === more ? 0.05 : -0.05));
      }}
    />
  );
}

function remembered(host: Host): { width: number; height: number } {
  const state = host.recall() as { detail?: { width?: unknown; height?: unknown } } | null | undefined;
  const part = (value: unknown, otherwise: number): number =>
    typeof value === 'number' && value >= LEAST && value <= MOST ? value : otherwise;
  return { width: part(state?.detail?.width, 0.42), height: part(state?.detail?.height, 0.4) };
}
