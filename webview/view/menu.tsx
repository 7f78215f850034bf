import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface MenuItem {
  label: string;
  /** Shown at the right edge. */
  keys?: string;
  icon?: string;
  checked?: boolean;
  /** A line above. */
  separated?: boolean;
  disabled?: boolean;
  /** Keep the menu open: for a list of check marks. */
  stays?: boolean;
  run: () => void;
}

export interface Place {
  x: number;
  y: number;
  /** The menu's right edge is at x. */
  fromRight?: boolean;
}

/** A menu like VS Code's own. Arrow keys move, Enter and Space choose, Escape closes and gives the focus back. */
export function Menu({
  label,
  items,
  place,
  close,
}: {
  label: string;
  items: MenuItem[];
  place: Place;
  close: () => void;
}): JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(items.findIndex((item) => !item.disabled));
  usePopup(list, place, close);
  useLayoutEffect(() => {
    list.current?.querySelectorAll<HTMLElement>('[role^=menuitem]')[active]?.focus();
  }, [active]);
  const move = (step: number): void => {
    let next = active;
    do next = (next + step + items.length) % items.length;
    while (items[next]?.disabled && next !== active);
    setActive(next);
  };
  const choose = (item: MenuItem | undefined): void => {
    if (!item || item.disabled) return;
    if (!item.stays) close();
    item.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const moves: Record<string, () => void> = {
      ArrowDown: () => move(1),
      ArrowUp: () => move(-1),
      Home: () => setActive(items.findIndex((item) => !item.disabled)),
      End: () => setActive(items.findLastIndex((item) => !item.disabled)),
      Enter: () => choose(items[active]),
      ' ': () => choose(items[active]),
      Escape: close,
      Tab: close,
    };
    event.stopPropagation();
    const act = moves[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  return (
    <div class="menu" role="menu" aria-label={label} ref={list} onKeyDown={onKeyDown}>
      {items.map((item, index) => (
        <>
          {item.separated && <div class="menu-line" role="separator" />}
          <div
            class={`menu-item${item.disabled ? ' disabled' : ''}`}
            role={item.checked === undefined ? 'menuitem' : 'menuitemcheckbox'}
            aria-checked={item.checked}
            aria-disabled={item.disabled}
            tabIndex={-1}
            // A pointer that rests where the menu opens is no choice: only one that moves.
            onMouseMove={() => !item.disabled && setActive(index)}
            onFocus={() => setActive(index)}
            onClick={() => choose(item)}
          >
            <span class={`codicon codicon-${item.checked ? 'check' : (item.icon ?? 'blank')}`} aria-hidden="true" />
            <span class="menu-label">{item.label}</span>
            {item.keys && <span class="menu-keys">{item.keys}</span>}
          </div>
        </>
      ))}
    </div>
  );
}

/** Puts a popup at its place, inside the page; closes it on a press elsewhere; gives the focus back at the end. */
export function usePopup(element: { current: HTMLElement | null }, place: Place, close: () => void): void {
  // While it is made: the focus is in the popup as soon as that is there.
  const [before] = useState(() => document.activeElement);
  useLayoutEffect(() => {
    const popup = element.current;
    if (!popup) return;
    const { width, height } = popup.getBoundingClientRect();
    const left = place.fromRight ? place.x - width : place.x;
    popup.style.left = `${Math.max(4, Math.min(left, window.innerWidth - width - 4))}px`;
    popup.style.top = `${Math.max(4, Math.min(place.y, window.innerHeight - height - 4))}px`;
  }, [place.x, place.y]);
  // At once: it may be closed before the first frame, and the focus would be left nowhere.
  useLayoutEffect(() => {
    const pressed = (event: MouseEvent): void => {
      const target = event.target as Element;
      // The button that opened it closes it itself.
      if (!element.current?.contains(target) && !target.closest('[aria-expanded=true][aria-haspopup]')) close();
    };
    document.addEventListener('mousedown', pressed, true);
    window.addEventListener('blur', close);
    return () => {
      document.removeEventListener('mousedown', pressed, true);
      window.removeEventListener('blur', close);
      if (
        before instanceof HTMLElement &&
        (document.activeElement === document.body ||
          element.current?.contains(document.activeElement) ||
          !document.activeElement)
      )
        before.focus();
    };
  }, []);
}

/** A button that opens a menu below itself. */
export function MenuButton(props: {
  label: string;
  class?: string;
  items: () => MenuItem[];
  children: ComponentChildren;
  title?: string;
}): JSX.Element {
  const button = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState(false);
  const box = open ? button.current?.getBoundingClientRect() : undefined;
  return (
    <>
      <button
        ref={button}
        class={props.class ?? 'tool-button'}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-label={props.label}
        title={props.title ?? props.label}
        onClick={() => setOpen(!open)}
      >
        {props.children}
      </button>
      {box && (
        <Menu
          label={props.label}
          items={props.items()}
          place={{ x: box.right, y: box.bottom + 2, fromRight: true }}
          close={() => setOpen(false)}
        />
      )}
    </>
  );
}
