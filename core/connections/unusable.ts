import type { ConnectionRow } from '../../db/store.ts';
import { ApiError } from '../errors.ts';

/** Returns the error for a disabled connection, naming the operation that enables it. */
export function connectionDisabled({ keyId }: Pick<ConnectionRow, 'keyId'>): ApiError {
  const detail = `The connection ${keyId} is disabled.`;
  return new ApiError('CONNECTION_DISABLED', detail, {
    extra: { next_action: configure('enableConnection', `${detail} An administrator must enable it.`) },
  });
}

/** Returns the error for a connection that lacks settings, naming the operation that adds them. */
export function connectionDraft({ keyId }: Pick<ConnectionRow, 'keyId'>): ApiError {
  const detail = `The connection ${keyId} is not fully configured; see missing_settings.`;
  const message = `${detail} An administrator must set the fields listed there.`;
  return new ApiError('CONNECTION_NOT_READY', detail, {
    extra: { next_action: configure('updateConnection', message) },
  });
}

/** Returns the error for a connection whose provider was deleted; such a connection cannot be enabled. */
export function providerDeleted({ keyId }: Pick<ConnectionRow, 'keyId'>): ApiError {
  const message = 'The provider was deleted: the application must create an account with another provider.';
  return new ApiError('CONNECTION_DISABLED', `The connection ${keyId} is disabled, because its provider was deleted.`, {
    extra: { next_action: { type: 'authorize', operation_id: 'createConnectedAccount', message } },
  });
}

function configure(operation_id: string, message: string) {
  return { type: 'configure', operation_id, message };
}
