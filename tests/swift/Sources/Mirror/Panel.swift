/// What a person sees of one frame.
public struct Shown: Codable, Equatable {
    /// The name of the file that the tool works on; empty where there is none.
    public var header = ""
    /// The text of the result.
    public var body = ""
    /// How it went, where the result says so.
    public var card = ""

    public init(header: String = "", body: String = "", card: String = "") {
        self.header = header
        self.body = body
        self.card = card
    }
}

/// A result that knows what a person sees of it.
public protocol Showable: Decodable {
    var shown: Shown { get }
    /// What a person sees where the bridge gave a text in its place.
    static func shown(echo: String) -> Shown
}

/// The panel as far as the mirror needs it: it takes frames in their order and says what each one shows.
public struct Panel {
    private struct Call: Hashable {
        let requestID: String?
        let tool: String
    }

    /// The file names of the calls that have started and not completed, oldest first.
    private var started: [Call: [String]] = [:]

    public init() {}

    /// Throws `DecodingError` for a line that is no status frame, or whose result its struct cannot read.
    public mutating func show(line: String) throws -> Shown {
        let frame = try StatusFrame<Named>(line: line)
        let call = Call(requestID: frame.requestID, tool: frame.payload.data.name ?? "")
        switch frame.payload.type {
        case "tool_starting": return try start(call, line: line)
        case "tool_completed": return try complete(call, line: line)
        default: return Shown()
        }
    }

    private mutating func start(_ call: Call, line: String) throws -> Shown {
        let starting = try StatusFrame<ToolStarting>(line: line).payload.data
        let fileName = (try? ReadFileArgs(json: starting.args))?.fileName ?? ""
        started[call, default: []].append(fileName)
        return Shown(header: fileName)
    }

    private mutating func complete(_ call: Call, line: String) throws -> Shown {
        var shown = try result(of: call.tool, line: line)
        if started[call]?.isEmpty == false {
            shown.header = started[call]?.removeFirst() ?? ""
        }
        return shown
    }

    private func result(of tool: String, line: String) throws -> Shown {
        switch tool {
        case "read_file": return try shown(ReadFileResult.self, line: line)
        case "patch_file": return try shown(PatchFileResult.self, line: line)
        default: return try shown(Unread.self, line: line)
        }
    }

    private func shown<Structure: Showable>(_: Structure.Type, line: String) throws -> Shown {
        switch try StatusFrame<ToolCompleted<Structure>>(line: line).payload.data.result {
        case let .structure(structure): return structure.shown
        case let .echo(text): return Structure.shown(echo: text)
        }
    }
}

extension Showable {
    public static func shown(echo: String) -> Shown {
        Shown(body: echo)
    }
}

extension ReadFileResult: Showable {
    public var shown: Shown {
        Shown(body: content ?? error ?? "", card: error.map { "✗ \($0)" } ?? "✓ ok")
    }
}

extension PatchFileResult: Showable {
    public var shown: Shown {
        Shown(body: error ?? "", card: card)
    }

    /// The text of a short result says how it went; that of a long one was cut, so nothing is claimed.
    public static func shown(echo: String) -> Shown {
        Shown(body: echo, card: (try? PatchFileResult(echo: echo))?.card ?? "")
    }

    private var card: String {
        guard ok else { return "✗ \(error ?? "failed")" }
        return diff.map { "✓ ok +\($0.added) -\($0.removed)" } ?? "✓ ok"
    }
}

extension Unread: Showable {
    public var shown: Shown { Shown() }
}
