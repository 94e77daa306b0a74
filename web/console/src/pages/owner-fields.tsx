import { currentSession } from '../session.ts';
import { Field } from '../ui/parts.tsx';

/** The fields for the owner and the identifier of an account. */
export function OwnerFields() {
  const operator = currentSession()?.operator;
  return (
    <>
      <Field label="User id" hint="The user of your application who owns the account.">
        {(id) => <input id={id} name="user_id" required maxLength={100} defaultValue={operator} />}
      </Field>
      <Field label="Identifier" hint="Tells the accounts of a user apart, for example an email address.">
        {(id) => <input id={id} name="identifier" required maxLength={255} defaultValue={operator} />}
      </Field>
    </>
  );
}
