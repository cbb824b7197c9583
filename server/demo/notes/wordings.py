"""The wordings of notes: our own, after how wards write.

``{patient}`` is a whole name, ``{title} {last}`` Mr. or Mrs. with the last one, ``{he}``
and ``{his}`` pronouns, ``{complaint}`` and the rest what the stay is about.
"""

SMOKES = (
    "{He} {SMOKING:[smokes|is smoking] [half a pack|one pack|about 10 cigarettes|"
    "2 packs] [a|per] day}.",
    "Social: {SMOKING:current [every day |]smoker}, [occasional|no] alcohol.",
    "SH: {SMOKING:tob 1 ppd}, etoh [socially|none].",
    "{He} {SMOKING:continues to smoke} [despite counseling|and is not ready to quit].",
    "Tobacco: {SMOKING:yes, daily}. Alcohol: [no|on weekends].",
    "Found outside by the entrance, {SMOKING:smoking a cigarette} with IV pole.",
    "{His} {relation} says {he} {SMOKING:still smokes} [in the house|on the porch].",
)
SMOKES_NOT = (
    "{He} [denies|does not report] [tobacco use|smoking].",
    "Social: [never smoker|nonsmoker|lifelong non-smoker], [occasional|no] alcohol.",
    "SH: no tob, [no|rare] etoh.",
    "{He} quit smoking [many years|a decade] ago.",
    "Former smoker, [none|not a single one] in [years|over ten years].",
    "Tobacco: [no|none|never]. Alcohol: [no|on weekends].",
    "{His} {relation} smokes, {he} [does|did] not.",
)
FELL = (
    "{He} {FALL:[fell|slipped and fell|tripped and fell] [in the bathroom|at home|"
    "on the stairs|in the kitchen]} [last week|two days before admission|recently].",
    "{He} {FALL:had [a|an unwitnessed|a mechanical] fall} [at home|on the ward] "
    "[without|with brief] loss of consciousness.",
    "{FALL:Found on the floor} [next to the bed|beside the commode] at [0430|2215|"
    "shift change], no injury noted.",
    "{FALL:s/p fall} [x1|x2] [at home|this month], uses a walker.",
    "{His} {relation} reports that {he} {FALL:has fallen} [twice|several times] "
    "[this year|since spring].",
)
FELL_NOT = (
    "{He} denies [recent |any |]falls.",
    "No [recent |]falls[| or syncope].",
    "Fall precautions in place[|, bed alarm on].",
    "[Low|Moderate] fall risk[| per Morse scale], has not fallen.",
    "Gait steady, no falls [this shift|reported|since last visit].",
)
ALLERGIC = (
    "Allergies: {allergen} [(rash)|(hives)|- anaphylaxis|].",
    "{He} is allergic to {allergen}[|, which gave {him} hives].",
    "ALL: {allergen}.",
    "Allergy to {allergen} [confirmed with {his} {relation}|noted on the band].",
    "{He} [had|developed] a [rash|reaction] [with|after] {allergen} [years ago|before].",
)
ALLERGIC_NOT = (
    "Allergies: [none known|NKDA|no known drug allergies].",
    "NKDA.",
    "{He} has no known allergies[|, took penicillin before without problems].",
    "No allergy to [penicillin|latex|contrast] [reported|known].",
)
HEADERS = {
    "admission": (
        "{hospital}\nADMISSION NOTE\nPatient: {patient}\nMRN: {record}\nDOB: {born}\n"
        "Date of admission: {admitted}\nAttending: Dr. {doctor}\n\n",
        "Name: {patient}    MRN: {record}\nAdmitted: {admitted}    Age/Sex: {age} {sex}\n"
        "Address: {address}\nTel: {phone}\n\n",
        "H&P\n{patient} / {record} / {born}\n\n",
        "",
    ),
    "progress": (
        "PROGRESS NOTE  {today}\n{patient}  MRN {record}\n\n",
        "{today} [Medicine|Surgery|Hospitalist] [progress note|daily note]\n\n",
        "",
        "",
    ),
    "nursing": (
        "Nursing note {today} [0700|1500|2300]\n",
        "RN note: ",
        "{today_short} ",
    ),
    "radiology": (
        "{hospital}\nDepartment of Radiology\nPATIENT: {patient}\nMRN: {record}\n"
        "EXAM DATE: {today}\nREFERRING: {doctor}, MD\n\n",
        "Exam: {imaging}   {today}\nPt: {patient} ({record})\n\n",
    ),
    "discharge": (
        "DISCHARGE SUMMARY\n\nPatient: {patient}\nMRN: {record}\nDate of birth: {born}\n"
        "Admission date: {admitted}\nDischarge date: {discharged}\n"
        "Attending physician: {doctor_full}, M.D.\n\n",
        "{hospital}, {city}\nDischarge letter\n\nRe: {patient}, born {born}, {address}\n\n"
        "Dear Dr. {colleague},\n\n",
        "",
    ),
}
BODIES = {
    "admission": (
        (
            "[{title} {last}|The patient|Pt] is a[|n] {age}[-year-old|yo| y/o| year old] {sex_word} "
            "[from {city} |]with [a history of |hx of ]{history} who [presents|presented|"
            "was brought in] with {complaint}.",
            "{age}[ y/o|yo] {sex} c/o {complaint} [for|x] [2|3|4] days, hx {history}.",
            "CC: {complaint}.\nHPI: {title} {last} is {age} and [has|carries a diagnosis of] "
            "{history}. [Symptoms began|It started] on {onset}.",
        ),
        (
            "Symptoms started on {onset} and [got worse|have been worsening] since.",
            "{He} was seen at {other_hospital} on {onset} and sent home.",
            "Referred by Dr. {colleague} [of|from] {other_hospital}.",
            "{His} {relation} {kin} [called EMS|brought {him} in|is at the bedside].",
            "",
        ),
        ("{smoking}",),
        ("{allergy}",),
        ("{fall}", ""),
        (
            "Exam: {finding}. [BP 132/78|BP 118/64|BP 151/90], HR [88|102|71], [afebrile|"
            "T 38.4].",
            "On examination {finding}.",
        ),
        (
            "[Impression|A/P|Plan]: {diagnosis}. Start {drug}, [check labs|repeat labs in "
            "am], {imaging}.",
            "Assessment: likely {diagnosis}. Will give {drug} and discuss with Dr. "
            "{colleague}.",
        ),
        (
            "Contact: {kin} ({relation}), {kin_phone}.",
            "Next of kin {kin_full}, {relation}, phone {kin_phone}.",
            "Code status discussed with {his} {relation}[ {kin}|].",
            "",
        ),
    ),
    "progress": (
        (
            "S: {title} {last} [feels better|slept poorly|still has {complaint}].",
            "[Pt|Patient] seen on rounds with Dr. {colleague}. {complaint} [improving|"
            "unchanged].",
            "HD#[2|3|4]. {He} reports less {complaint}.",
        ),
        ("O: {finding}. [Tmax 37.2|Tmax 38.1], sats [94|97]% RA.", "{finding}."),
        ("{smoking}", "{allergy}", "{fall}", "", ""),
        (
            "A/P: {diagnosis}, day [2|3] of {drug}. Continue.",
            "Plan: continue {drug}, {imaging} on {next_day}.",
            "[Cardiology|Surgery|ID] (Dr. {colleague}) [consulted|following].",
        ),
        (
            "Updated {his} {relation} {kin} by phone ({kin_phone}).",
            "D/w {kin}, {his} {relation}, who agrees.",
            "{He} hopes to go home to {city} by {next_day}.",
            "",
        ),
        ("{doctor_full}, MD  pager {pager}", "Dr. {doctor}", "- {doctor}", ""),
    ),
    "nursing": (
        (
            "Pt [resting|sleeping|up in chair], {complaint} [noted|denied].",
            "{title} {last} [alert and oriented x3|drowsy but arousable]. {finding}.",
            "Assumed care of {patient_spoken} at [0700|1900].",
        ),
        ("{fall}", "{smoking}", "{fall}", ""),
        (
            "{drug} given as ordered.",
            "Dr. {doctor} notified[| at x{pager}].",
            "Called {kin} ({relation}) at {kin_phone}, no answer.",
            "{His} {relation} {kin} visited.",
        ),
        ("{allergy}", "", ""),
        ("Will continue to monitor. [|{nurse}, RN|{nurse} RN]", "{nurse}, RN"),
    ),
    "radiology": (
        (
            "INDICATION: {age}[-year-old|yo] {sex_word} with {complaint}.",
            "History: {complaint}, r/o {diagnosis}.",
        ),
        (
            "COMPARISON: [None.|{imaging} of {onset}.|Outside study from {other_hospital},"
            " {onset}.]",
            "Compared with {onset}.",
        ),
        (
            "FINDINGS: {image_finding}.",
            "{image_finding}. No [fracture|effusion|free air|mass].",
        ),
        (
            "IMPRESSION: [Findings consistent with|Suspicious for|No evidence of] "
            "{diagnosis}.",
        ),
        (
            "Results called to Dr. {doctor} on {today}.",
            "Dictated by {colleague_full}, M.D. {today}",
            "Electronically signed: {colleague_full} {today}",
        ),
    ),
    "discharge": (
        (
            "{title} {last} is a[|n] {age}[-year-old|yo| y/o] {sex_word} admitted on {admitted} with "
            "{complaint}.",
            "[Thank you for referring|We report on] {patient_spoken}, {age}, who was an "
            "inpatient at {hospital} from {admitted} to {discharged}.",
        ),
        (
            "{He} was treated for {diagnosis} with {drug} and [did well|improved].",
            "Hospital course: {diagnosis}, treated with {drug}. [Dr. {colleague} saw {him}"
            " on {next_day}.|]",
        ),
        ("{smoking}",),
        ("{fall}", "{allergy}"),
        (
            "Discharged home with {his} {relation} on {discharged}.",
            "Disposition: [home|rehab at {other_hospital}], {discharged}.",
        ),
        (
            "Follow up with Dr. {colleague} at {other_hospital} on {follow_up}, call "
            "{clinic_phone}.",
            "F/u {follow_up} [w/|with] {colleague}, {clinic_phone}.",
        ),
        (
            "\nDictated by: {doctor_full}, M.D.\nD: {discharged}\nT: {discharged}",
            "\nSincerely,\n{doctor_full}, MD\n{hospital}",
            "",
        ),
    ),
}
CONDITIONS = (
    {
        "complaint": "[shortness of breath|SOB|productive cough|cough and fever]",
        "history": "[COPD|asthma|recurrent bronchitis]",
        "diagnosis": "[pneumonia|COPD exacerbation|acute bronchitis]",
        "drug": "[ceftriaxone|prednisone 40 mg|albuterol nebs|levofloxacin]",
        "finding": "[crackles at the right base|diffuse wheezing|decreased breath sounds]",
        "imaging": "[chest x-ray|CXR|CT chest]",
        "image_finding": "[Right lower lobe opacity|Hyperinflated lungs|Patchy infiltrate]",
    },
    {
        "complaint": "[chest pain|palpitations|leg swelling|chest tightness]",
        "history": "[CHF|coronary artery disease|atrial fibrillation|HTN]",
        "diagnosis": "[heart failure|NSTEMI|atrial fibrillation with RVR]",
        "drug": "[furosemide|metoprolol 25 mg|heparin drip|aspirin]",
        "finding": "[2+ pitting edema|irregular rhythm|JVP elevated]",
        "imaging": "[echocardiogram|chest x-ray|stress test]",
        "image_finding": "[Cardiomegaly with congestion|Small bilateral effusions]",
    },
    {
        "complaint": "[abdominal pain|nausea and vomiting|RUQ pain|black stools]",
        "history": "[gallstones|peptic ulcer disease|Crohn's disease|GERD]",
        "diagnosis": "[acute cholecystitis|GI bleed|diverticulitis|pancreatitis]",
        "drug": "[pantoprazole|metronidazole|ondansetron 4 mg|IV fluids]",
        "finding": "[RUQ tenderness, Murphy's sign positive|abdomen soft, mildly tender]",
        "imaging": "[CT abdomen|abdominal ultrasound|KUB]",
        "image_finding": "[Gallbladder wall thickening|Stranding near the sigmoid colon]",
    },
    {
        "complaint": "[hip pain|back pain|left knee swelling|wrist pain]",
        "history": "[osteoporosis|osteoarthritis|Parkinson's disease|dementia]",
        "diagnosis": "[hip fracture|Colles' fracture|lumbar compression fracture]",
        "drug": "[acetaminophen|oxycodone 5 mg|enoxaparin]",
        "finding": "[left leg shortened and rotated|tender over L3|knee warm, ROM limited]",
        "imaging": "[hip films|MRI of the spine|DEXA scan]",
        "image_finding": "[Femoral neck fracture|Mild degenerative change]",
    },
    {
        "complaint": "[fatigue and thirst|blurred vision|foot ulcer|dizziness]",
        "history": "[type 2 diabetes|DM2|hypothyroidism|CKD stage 3]",
        "diagnosis": "[hyperglycemia|diabetic foot infection|DKA|acute kidney injury]",
        "drug": "[insulin glargine|metformin|vancomycin|normal saline]",
        "finding": "[dry mucous membranes|a 2 cm ulcer on the left heel]",
        "imaging": "[foot x-ray|renal ultrasound]",
        "image_finding": "[Soft tissue swelling, no osteomyelitis|Normal sized kidneys]",
    },
    {
        "complaint": "[headache|slurred speech|confusion|right arm weakness]",
        "history": "[migraine|prior TIA|epilepsy|Alzheimer's disease]",
        "diagnosis": "[ischemic stroke|TIA|delirium|seizure]",
        "drug": "[clopidogrel|levetiracetam|atorvastatin 80 mg]",
        "finding": "[right facial droop|oriented to person only|neuro exam nonfocal]",
        "imaging": "[CT head|MRI brain|EEG]",
        "image_finding": "[No acute hemorrhage|Chronic small vessel changes]",
    },
)
