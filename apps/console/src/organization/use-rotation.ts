import { decideRotation } from '@holdfast/access/decide-rotation.js';
import { reasonOf } from '../actions';
import type { Token } from '../api/credentials';
import { organizationApi } from '../api/organization';
import { useForbidden } from '../api/use-access';
import { useWhoAmI } from '../api/use-who-am-i';
import { useOrganizationList } from './list-panel';

/** Reason why the user may not give a token another secret, by the same rule as in the API. `undefined`: the user may, or it is not known yet. */
export function useRotationRefusal(): (token: Token) => string | undefined {
  const forbidden = useForbidden()('token:own');
  const me = useWhoAmI().data;
  // Who may not see the members sees own tokens only.
  const members = useOrganizationList('members', organizationApi.members).data ?? [];
  return ({ userId, role, expiresAt }) => {
    if (forbidden !== undefined || me === undefined) return forbidden;
    const isServiceAccount = members.some((member) => member.userId === userId && member.isServiceAccount);
    return reasonOf(
      decideRotation({
        // The console is used with a session, which was made with no token.
        byToken: undefined,
        isAncestor: false,
        byRole: me.role,
        token: { role, expiresAt: expiresAt === null ? undefined : new Date(expiresAt) },
        isOwn: userId === me.userId,
        isOfServiceAccount: isServiceAccount,
      }),
    );
  };
}
