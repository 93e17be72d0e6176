//! Replica ids are UUIDs.
#![cfg(feature = "uuid")]

use commute::ReplicaId;
use uuid::Uuid;

#[test]
fn an_id_and_its_uuid_have_the_same_bytes_text_and_order() {
    let all = [
        0,
        1,
        1 << 64,
        0x0123_4567_89ab_cdef_0011_2233_4455_6677,
        u128::MAX,
    ];
    for bits in all {
        let (id, uuid) = (ReplicaId::from(bits), Uuid::from_u128(bits));
        assert_eq!(ReplicaId::from(uuid), id);
        assert_eq!(Uuid::from(id), uuid);
        assert_eq!(id.to_string(), uuid.to_string());
        for other in all {
            assert_eq!(
                id.cmp(&ReplicaId::from(other)),
                uuid.cmp(&Uuid::from_u128(other))
            );
        }
    }
}

#[test]
fn an_integer_literal_still_makes_an_id() {
    assert_eq!(ReplicaId::from(1).to_bytes()[15], 1);
    let id: ReplicaId = 2.into();
    assert_eq!(id, ReplicaId::from(2));
}
