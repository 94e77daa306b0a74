import { may } from '../session.ts';

/** A note above a form if the operator's role does not permit the action of the form. */
export function RoleNote({ scope, action }: { scope: string; action: string }) {
  if (may(scope)) return null;
  return <p className="advice">Your role cannot {action}. Ask an owner for the role editor.</p>;
}
