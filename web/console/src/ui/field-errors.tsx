import { useLayoutEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { words } from './format.ts';

interface FieldErrorsProps {
  errors: readonly { field: string; message: string }[];
  /**
   * Returns the name of the control of a field, for a form that names its controls differently than the API names the
   * fields.
   */
  controlName?: ((field: string) => string) | undefined;
}

interface Place {
  control: HTMLElement;
  label: string | undefined;
  /** The element that shows the message at the control; null if there is none, for example at a check box. */
  slot: Element | null;
}

/**
 * Lists the errors of fields. Each entry has the label of the field's control in the surrounding form, and the name of
 * the field in the API if it differs. Each message is repeated at its control, which is marked as invalid. The label in
 * the list moves the focus to the control.
 */
export function FieldErrors({ errors, controlName = (field) => field }: FieldErrorsProps) {
  const list = useRef<HTMLUListElement>(null);
  const [places, setPlaces] = useState<(Place | undefined)[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the names of controls do not change
  useLayoutEffect(() => {
    const form = list.current?.closest('dialog') ?? list.current?.closest('form, main');
    const found = errors.map(({ field }) => (form ? controlOf(form, controlName(field)) : undefined));
    setPlaces(found.map((control) => control && { control, label: labelOf(control), slot: slotOf(control) }));
    for (const control of found) control?.setAttribute('aria-invalid', 'true');
    return () => {
      for (const control of found) control?.removeAttribute('aria-invalid');
    };
  }, [errors]);
  return (
    <>
      <ul ref={list}>
        {errors.map(({ field, message }, index) => (
          <li key={`${field} ${message}`}>
            <FieldName field={field} place={places[index]} /> <LongText text={message} />
          </li>
        ))}
      </ul>
      {errors.map(({ field, message }, index) => (
        <ErrorAtControl key={`${field} ${message}`} place={places[index]} message={message} />
      ))}
    </>
  );
}

function ErrorAtControl({ place, message }: { place: Place | undefined; message: string }) {
  if (!place?.slot) return null;
  return createPortal(
    <div>
      <LongText text={sentenceOf(message)} />
    </div>,
    place.slot,
  );
}

/** The label of a control, which moves the focus to the control, and the name of the field in the API if it differs. */
function FieldName({ field, place }: { field: string; place: Place | undefined }) {
  const name = <b title={field}>{place?.label ?? words(field)}</b>;
  if (!place) return name;
  return (
    <>
      <button type="button" className="link" onClick={() => focusOn(place.control)}>
        {name}
      </button>
      {place.label && place.label !== words(field) && (
        <>
          {' '}
          <code className="muted">{field}</code>
        </>
      )}
    </>
  );
}

/** Of several controls, the first one gets the focus. */
function focusOn(control: HTMLElement): void {
  const target = control instanceof HTMLFieldSetElement ? control.querySelector<HTMLElement>('input') : control;
  target?.focus();
}

/** `must be a URL` → `Must be a URL`. */
function sentenceOf(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1);
}

/** Returns the element that shows the error of a control, and describes the control for screen readers; or null. */
function slotOf(control: Element): Element | null {
  if (control instanceof HTMLFieldSetElement) return control.querySelector(':scope > .field-error');
  return control.closest('.field')?.querySelector('.field-error') ?? null;
}

/**
 * Finds the control of a field: the control whose name is a part of the field, such as `user_id` for `claims.user_id`
 * and `user_verify_urls` for `user_verify_urls.0`. Later parts take precedence.
 */
function controlOf(form: Element, field: string): HTMLElement | undefined {
  const names = field.split('.').reverse().map(CSS.escape);
  const found = names.map((name) => form.querySelector<HTMLElement>(`[name="${name}"], [data-field="${name}"]`));
  return found.find((control) => control !== null) ?? undefined;
}

/** Returns the text of a label, or of the legend of several controls, without its hint. */
function labelOf(control: Element): string | undefined {
  const label =
    control instanceof HTMLFieldSetElement
      ? control.querySelector('legend')
      : (control as HTMLInputElement).labels?.[0];
  const copy = label?.cloneNode(true) as Element | undefined;
  for (const hint of copy?.querySelectorAll('.hint') ?? []) hint.remove();
  return copy?.textContent?.trim() || undefined;
}

const SHOWN_CHARACTERS = 160;

/** A text that may be long, for example a list of all allowed values. Its rest is shown on request. */
function LongText({ text }: { text: string }) {
  if (text.length <= SHOWN_CHARACTERS) return text;
  return (
    <details>
      <summary>{text.slice(0, SHOWN_CHARACTERS / 2)} …</summary>
      {text}
    </details>
  );
}
