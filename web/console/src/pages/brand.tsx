import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, type Schemas, take } from '../api.ts';
import { Check } from '../ui/check.tsx';
import { Card, Field } from '../ui/parts.tsx';
import { SaveActions } from '../ui/save-actions.tsx';

type Environment = Schemas['Environment'];

const MAX_LOGO_BYTES = 64 * 1024;

/** The brand on the pages of links, of the portal and of MCP logins. */
export function Brand({ environment }: { environment: Environment }) {
  const [hasAccent, setHasAccent] = useState(environment.accent_color !== null);
  const save = useMutation({
    async mutationFn(form: FormData) {
      const text = (name: string) => String(form.get(name)).trim() || null;
      const logo = await logoOf(form);
      const body = {
        application_name: text('application_name'),
        accent_color: hasAccent ? text('accent_color') : null,
        support_url: text('support_url'),
        privacy_url: text('privacy_url'),
        terms_url: text('terms_url'),
        ...(logo !== undefined && { logo }),
      };
      return take(api.PUT('/api/v1/environment', { body }));
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    save.mutate(new FormData(event.currentTarget));
  };
  return (
    <Card title="Brand">
      <p className="muted">
        Users see it when they connect an account, in the portal, and when they log in an MCP client.
      </p>
      <form className="stack" onSubmit={submit}>
        <Field label="Name of your application">
          {(id) => (
            <input id={id} name="application_name" maxLength={60} defaultValue={environment.application_name ?? ''} />
          )}
        </Field>
        <Field label="Logo" hint="PNG, JPEG or SVG, at most 64 KiB.">
          {(id) => <input id={id} name="logo" type="file" accept="image/png,image/jpeg,image/svg+xml" />}
        </Field>
        {environment.logo_url && <Check name="no_logo" label="Remove the present logo" />}
        <Check
          label="Use your own color for buttons and links"
          checked={hasAccent}
          onChange={({ target }) => setHasAccent(target.checked)}
        />
        <Field label="Color">
          {(id) => (
            <input
              id={id}
              name="accent_color"
              type="color"
              disabled={!hasAccent}
              defaultValue={environment.accent_color ?? '#1f4fb8'}
            />
          )}
        </Field>
        {(
          [
            ['support_url', 'Support', 'https://example.com/help, or mailto:help@example.com'],
            ['privacy_url', 'Privacy policy', 'https://example.com/privacy'],
            ['terms_url', 'Terms', 'https://example.com/terms'],
          ] as const
        ).map(([name, label, placeholder]) => (
          <Field key={name} label={label}>
            {(id) => (
              <input
                id={id}
                name={name}
                type="url"
                maxLength={2048}
                placeholder={placeholder}
                defaultValue={environment[name] ?? ''}
              />
            )}
          </Field>
        ))}
        <SaveActions save={save} label="Save the brand" />
      </form>
    </Card>
  );
}

/** Returns the chosen logo in the format of the API, null to remove the current one, or undefined to keep it. */
async function logoOf(form: FormData): Promise<string | null | undefined> {
  const file = form.get('logo');
  if (form.has('no_logo')) return null;
  if (!(file instanceof File) || file.size === 0) return undefined;
  if (file.size > MAX_LOGO_BYTES) throw new Error('The logo is larger than 64 KiB.');
  const reader = new FileReader();
  const read = new Promise<string>((resolve, reject) => {
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new Error('The file could not be read. Choose it again.'));
  });
  reader.readAsDataURL(file);
  return read;
}
