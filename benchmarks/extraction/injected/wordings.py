"""Wordings with identifiers that are put into reports: our own.

Those of ``BOTH`` stand in reports to learn from and to judge on, the others in one kind
of them alone, so that no model is judged on wordings alone that it has learned.
"""

from collections.abc import Mapping

HEADERS: Mapping[str, tuple[str, ...]] = {
    "both": (
        "PATIENT NAME: {patient}\nMEDICAL RECORD #: {record}\nDATE: {today}\n",
        "Patient: {patient}   DOB: {born}   MRN: {record}\n",
    ),
    "train": (
        "{hospital}\n{address_of_hospital}\nName: {patient}\nAge: {age}\nDate of service: {today}\nPhysician: {doctor_full}, M.D.\n\n",
        "{patient}\nRecord no. {record}\nAdmitted {admitted}, discharged {discharged}\nPCP: Dr. {doctor}\n",
        "Re: {patient}, {address}, tel. {phone}\nDear Dr. {colleague}:\n",
        "[CONFIDENTIAL|] {record} {patient} {born} {today}\n",
    ),
    "judge": (
        "{hospital} - Dept of [Medicine|Surgery]\nPt name {patient} ({age} {sex})\nUnit no {record}\nVisit {today}\n",
        "NAME {patient}\nADDR {address}\nHOME PHONE {phone}\nADM {admitted}  DIS {discharged}\nATT {doctor}\n",
        "Dear {colleague_full}, MD,\nI saw your patient {patient_spoken} (born {born}) at {hospital} on {today}.\n",
        "Acct {record} / {patient} / seen {today} / {doctor}\n",
    ),
}
FOOTERS: Mapping[str, tuple[str, ...]] = {
    "both": ("\n{doctor_full}, M.D.", "\nDictated by: {doctor_full}, MD\nD: {today}"),
    "train": (
        "\nElectronically signed by {doctor_full}, MD on {discharged}",
        "\ncc: Dr. {colleague}, {other_hospital}",
        "\nEmergency contact: {kin_full} ({relation}) {kin_phone}",
    ),
    "judge": (
        "\nSigned: {doctor} {discharged}",
        "\nCopy to {colleague_full}, M.D., {other_hospital}, fax {clinic_phone}",
        "\nNext of kin is {kin_full}, {relation}; reach at {kin_phone}.",
    ),
}
SENTENCES: Mapping[str, tuple[str, ...]] = {
    "both": (
        "{title} {last} was last seen on {onset}.",
        "The case was discussed with Dr. {colleague}.",
        "{His} {relation}, {kin}, was present.",
        "{He} was transferred from {other_hospital}.",
        "Follow up with Dr. {doctor} on {follow_up}.",
        "{patient_spoken} is a {age}-year-old {sex_word}.",
    ),
    "train": (
        "{title} {last} lives in {city} with {his} {relation} {kin}.",
        "{He} was seen in clinic by Dr. {colleague} on {onset}.",
        "Results were called to {doctor_full} at {clinic_phone}.",
        "{He} can be reached at {phone}.",
        "Old records from {other_hospital} were [requested|reviewed].",
        "I explained this to {title} {last} and {his} {relation}.",
        "{He} was admitted to {hospital} on {admitted} and discharged on {discharged}.",
        "Patient's {relation} {kin} was notified by telephone ({kin_phone}).",
        "{He} is [now |]{age} [years old|y/o] and [retired|works full time].",
        "{title} {last} [understands and agrees|would like to proceed].",
        "The [previous|outside] study of {onset} from {other_hospital} was reviewed.",
        "{patient_spoken} moved here from {city} [last year|recently].",
        "Appointment with {colleague} {follow_up}, [call|phone] {clinic_phone}.",
        "Sample labeled {record} was sent on {today}.",
    ),
    "judge": (
        "According to {kin_full}, {title} {last} had been well until {onset}.",
        "{doctor_full} of {other_hospital} referred {him} to us.",
        "I spoke to {kin} on {onset}; {he} prefers to be called at {phone}.",
        "{He} drove in from {city} this morning.",
        "Paged Dr. {colleague} [at|on] {pager}.",
        "{last} tolerated this well.",
        "We will see {patient_spoken} again {follow_up}.",
        "Since {his} stay at {hospital} ({admitted} to {discharged}) {he} has done well.",
        "[Now|Currently] aged {age}, {he} is independent.",
        "Specimen {record} collected {onset}.",
        "Home address on file is {address}.",
        "Consent was obtained from {kin_full} ({relation}).",
        "Drs. {doctor} and {colleague} agree.",
    ),
}
